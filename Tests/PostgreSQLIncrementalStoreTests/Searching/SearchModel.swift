#if PostgreSQL
  import CairnSimulation
  import CoreData

  /// A model with attributes of all types that have columns, with random inheritance and random indexes.
  struct SearchModel {
    let model = NSManagedObjectModel()
    /// The entities of which there are objects.
    let concrete: [NSEntityDescription]
    let entities: [NSEntityDescription]

    private static let attributes: [(name: String, type: NSAttributeType)] = [
      ("small", .integer16AttributeType), ("order", .integer64AttributeType), ("flag", .booleanAttributeType),
      ("real", .doubleAttributeType), ("float", .floatAttributeType), ("money", .decimalAttributeType),
      ("text", .stringAttributeType), ("it's \"Straße\" %_", .stringAttributeType), ("date", .dateAttributeType),
      ("data", .binaryDataAttributeType), ("uuid", .UUIDAttributeType), ("link", .URIAttributeType),
    ]

    init(_ random: inout SplitMix64) {
      func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        return entity
      }
      let (thing, part, piece, group) = (entity("Thing"), entity("select"), entity("Pie\"ce"), entity("Group"))
      thing.properties = Self.attributes.map { Self.attribute($0.name, $0.type) }
      part.properties = [Self.attribute("more", .stringAttributeType)]
      piece.properties = [Self.attribute("most", .integer32AttributeType)]
      group.properties = [Self.attribute("name", .stringAttributeType), Self.attribute("rank", .doubleAttributeType)]
      thing.subentities = [part]
      if random.isTrue { part.subentities = [piece] } else { thing.subentities.append(piece) }
      thing.isAbstract = random.isTrue
      Self.relate(thing, "owner", isToMany: false, group, "owned", isToMany: true)
      Self.relate(thing, "tags", isToMany: true, group, "tagged", isToMany: true)
      Self.relate(thing, "parent", isToMany: false, thing, "children", isToMany: true)
      Self.relate(group, "list", isToMany: true, part, "lists", isToMany: true)
      group.relationshipsByName["list"]?.isOrdered = true
      for (entity, most) in [(thing, 5), (part, 2), (group, 2)] {
        let names = entity.attributesByName.keys.filter { $0 != "link" }.sorted() + ["owner"]
        var indexes: [NSFetchIndexDescription] = []
        for number in 0..<Int.random(in: 0...most, using: &random) {
          var properties: [NSPropertyDescription] = []
          for _ in 0..<Int.random(in: 1...2, using: &random) {
            guard let property = names.randomElement(using: &random).flatMap({ entity.propertiesByName[$0] }),
              !properties.contains(property)
            else { continue }
            properties.append(property)
          }
          indexes.append(
            NSFetchIndexDescription(
              name: "index \(number)",
              elements: properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) }))
        }
        entity.indexes = indexes
      }
      entities = [thing, part, piece, group]
      concrete = entities.filter { !$0.isAbstract }
      model.entities = entities
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      return attribute
    }

    private static func relate(
      _ one: NSEntityDescription, _ name: String, isToMany: Bool, _ other: NSEntityDescription, _ inverse: String,
      isToMany isInverseToMany: Bool
    ) {
      let (forth, back) = (NSRelationshipDescription(), NSRelationshipDescription())
      (forth.name, forth.destinationEntity, forth.maxCount) = (name, other, isToMany ? 0 : 1)
      (back.name, back.destinationEntity, back.maxCount) = (inverse, one, isInverseToMany ? 0 : 1)
      (forth.inverseRelationship, back.inverseRelationship) = (back, forth)
      for relationship in [forth, back] {
        relationship.deleteRule = .nullifyDeleteRule
        relationship.isOptional = true
      }
      one.properties.append(forth)
      other.properties.append(back)
    }
  }

  /// Values that are hard to compare.
  enum SearchValues {
    private static let long = String(repeating: "common ", count: 20)

    static let texts = [
      "", "a", "A", "ab", "abc", "b", "\u{E4}", "a\u{308}", "\u{C4}", "e\u{301}", "\u{E9}", "e", "E\u{301}", "ß", "ss",
      "SS", "ẞ", "İ", "i", "I", "ı", "i\u{307}", "ﬁ", "fi", "FI", "ǅ", "dž",
      "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
      "\u{1F468}", "👍🏽", "👍", "a\u{0}b", "\u{0}", "a\u{FFFD}b", "\u{FFFD}", "100%", "100", "a_c", "a%c", "a\\c", "\\",
      "'", "\"", "'; DROP TABLE \"Thing\"; --", "$1", "*", "?", "\r\n", "\n", "\r", "\u{301}", "a\u{301}\u{323}",
      "a\u{323}\u{301}", "한", "\u{1112}\u{1161}\u{11AB}", "\u{1112}\u{1161}", "Σ", "σ", "ς", "ΌΣΟΣ", "όσος",
      "\u{10FFFF}",
      "\u{D7FF}", "\u{E000}", "\u{212B}", "Å", "å", "\u{2126}", "Ω", "\u{1E9B}\u{323}", "\u{344}", "\u{F900}",
      long, long + "a", long + "b", long + "e", long + "e\u{301}", String(long.prefix(99)) + "e\u{301}x",
      String(long.prefix(99)) + "\u{E9}x", String(long.prefix(99)) + "e", String(long.prefix(100)), long + "\u{0}",
      "ab\u{301}c", "AB", "Äb", "äB", "\u{AD}a", "\u{200B}", "１２", "12", "ⅷ", "ᾳ", "ΑΙ", "αι",
    ]

    static let reals: [Double] = [
      0, -0.0, 1, -1, 0.1, 0.5, 1.5, 2, 2.5, 10.1, .nan, .infinity, -.infinity, 1e300, -1e300, 0x1p53, 0x1p53 + 2,
      0x1p63,
      -0x1p63, .leastNonzeroMagnitude, Double(Float(0.1)),
    ]

    static let integers: [Int64] = [
      0, 1, -1, 2, 3, 10, 32767, -32768, .max, .min, .max - 1, 1 << 53, 1 << 53 + 1, (1 << 53) + 1, 1 << 62,
    ]

    static let decimals: [Decimal] = [
      0, 1, -1, 2, 1.5, Decimal(string: "0.1") ?? 0, Decimal(string: "10.10") ?? 0, Decimal(string: "1e100") ?? 0,
      Decimal(string: "-1e-100") ?? 0, Decimal(string: "9007199254740993") ?? 0, Decimal(string: "0.5000") ?? 0,
      Decimal(string: "12345678901234567890123456789012345678") ?? 0, Decimal(string: "9223372036854775808") ?? 0, .nan,
    ]

    static let seconds: [Double] = [0, -0.0, 1, -1, 0.25, 1e9, -1e12, 1e20, .nan, 700_000_000.123]

    static let data = [Data(), Data([0]), Data([0, 1]), Data([255]), Data(repeating: 7, count: 200)]

    static let uuids = [
      "00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001",
      "80000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
    ].compactMap { UUID(uuidString: $0) }

    static func text(_ random: inout SplitMix64) -> String {
      let first = texts.randomElement(using: &random) ?? ""
      return random.isTrue ? first : first + (texts.randomElement(using: &random) ?? "")
    }

    /// A value that an attribute can have.
    static func value(_ type: NSAttributeType, _ random: inout SplitMix64) -> Any? {
      switch type {
      case .integer16AttributeType: integers.filter { Int16(exactly: $0) != nil }.randomElement(using: &random)
      case .integer32AttributeType: integers.filter { Int32(exactly: $0) != nil }.randomElement(using: &random)
      case .integer64AttributeType: integers.randomElement(using: &random)
      case .booleanAttributeType: random.isTrue
      case .doubleAttributeType: reals.randomElement(using: &random)
      case .floatAttributeType: reals.randomElement(using: &random).map { Float($0) }
      case .decimalAttributeType: decimals.randomElement(using: &random).map { NSDecimalNumber(decimal: $0) }
      case .stringAttributeType: text(&random)
      case .dateAttributeType: seconds.randomElement(using: &random).map { Date(timeIntervalSinceReferenceDate: $0) }
      case .binaryDataAttributeType: data.randomElement(using: &random)
      case .UUIDAttributeType: uuids.randomElement(using: &random)
      default: URL(string: "https://example.com/\(Int.random(in: 0..<3, using: &random))")
      }
    }

    /// A constant of a predicate, which is often of the type of an attribute.
    static func constant(_ type: NSAttributeType, _ random: inout SplitMix64) -> Any? {
      switch Int.random(in: 0..<12, using: &random) {
      case 0: return nil
      case 1: return NSNumber(value: reals.randomElement(using: &random) ?? 0)
      case 2: return decimals.randomElement(using: &random).map { NSDecimalNumber(decimal: $0) }
      case 3: return integers.randomElement(using: &random).map { NSNumber(value: $0) }
      default:
        return value(type, &random)
      }
    }
  }

  extension SplitMix64 {
    var isTrue: Bool { mutating get { Bool.random(using: &self) } }

    mutating func isTrue(oneIn number: Int) -> Bool { Int.random(in: 0..<number, using: &self) == 0 }
  }
#endif

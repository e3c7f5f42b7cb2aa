import CairnSimulation
import CoreData

/// A random model of three entities, of which one has two subentities, with attributes of many types, relationships of
/// all kinds, uniqueness constraints and indexes.
struct PlannedModel {
  let model = NSManagedObjectModel()
  /// The entities that are not abstract.
  let concrete: [NSEntityDescription]
  /// Whether objects may refer to deleted ones.
  let mayDangle: Bool
  private let constraints: [String: [[String]]]

  private static let types: [NSAttributeDescription.AttributeType] = [
    .integer16, .integer64, .double, .float, .boolean, .string, .string, .date, .uuid, .binaryData, .decimal,
  ]

  init(_ random: inout SplitMix64) {
    let entities = ["A", "B", "C", "Left", "Right"].map { Town.entity($0) }
    var properties = [[NSPropertyDescription]](repeating: [], count: entities.count)
    for place in entities.indices {
      for number in 0..<Int.random(in: 1..<4, using: &random) {
        let type = Self.types.randomElement(using: &random)!
        properties[place].append(Town.attribute("a\(place)\(number)", type))
      }
    }
    mayDangle = Bool.random(using: &random)
    let rules: [NSDeleteRule] = [
      .nullifyDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, mayDangle ? .noActionDeleteRule : .nullifyDeleteRule,
    ]
    for number in 0..<7 {
      let places = (0..<2).map { _ in entities.indices.randomElement(using: &random)! }
      let ends = ["r\(number)x", "r\(number)y"].enumerated().map { end, name in
        let isToMany = Bool.random(using: &random)
        return Town.relationship(
          name, to: entities[places[1 - end]], isToMany: isToMany,
          isOrdered: isToMany && Int.random(in: 0..<3, using: &random) == 0,
          rule: rules.randomElement(using: &random)!)
      }
      properties[places[0]].append(ends[0])
      guard Int.random(in: 0..<6, using: &random) > 0 else { continue }
      properties[places[1]].append(ends[1])
      (ends[0].inverseRelationship, ends[1].inverseRelationship) = (ends[1], ends[0])
    }
    var constraints: [String: [[String]]] = [:]
    for (place, entity) in entities.enumerated() {
      entity.properties = properties[place]
      let names = properties[place].compactMap { ($0 as? NSAttributeDescription)?.name }
      let own = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
        Array(names.shuffled(using: &random).prefix(Int.random(in: 1..<3, using: &random)))
      }
      entity.uniquenessConstraints = own
      constraints[entity.name!] = own
    }
    entities[0].subentities = [entities[3], entities[4]]
    entities[0].isAbstract = Bool.random(using: &random)
    for entity in entities { entity.indexes = Self.indexes(of: entity, &random) }
    model.entities = entities
    concrete = entities.filter { !$0.isAbstract }
    self.constraints = constraints
  }

  /// Some indexes of attributes and to-one relationships, inherited ones included.
  private static func indexes(
    of entity: NSEntityDescription, _ random: inout SplitMix64
  ) -> [NSFetchIndexDescription] {
    let properties = entity.propertiesByName.values.sorted { $0.name < $1.name }.filter {
      ($0 as? NSRelationshipDescription)?.isToMany != true
    }
    return (0..<Int.random(in: 0..<4, using: &random)).map { number in
      let some = properties.shuffled(using: &random).prefix(Int.random(in: 1..<4, using: &random))
      let index = NSFetchIndexDescription(
        name: "\(entity.name!)\(number)",
        elements: some.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) })
      index.partialIndexPredicate = condition(of: properties, &random)
      return index
    }
  }

  /// The predicate of a partial index; nil for an index of all objects.
  private static func condition(
    of properties: [NSPropertyDescription], _ random: inout SplitMix64
  ) -> NSPredicate? {
    guard Int.random(in: 0..<3, using: &random) == 0, let property = properties.randomElement(using: &random)
    else { return nil }
    let operators: [NSComparisonPredicate.Operator] = [
      .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo,
    ]
    let attribute = property as? NSAttributeDescription
    let isNil = attribute == nil || Bool.random(using: &random)
    let constant = isNil ? nil : attribute.map { value(of: $0, &random) }
    let type = operators.prefix(isNil ? 2 : operators.count).randomElement(using: &random)!
    return NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: property.name),
      rightExpression: NSExpression(forConstantValue: constant), modifier: .direct, type: type, options: [])
  }

  /// The predicate of a partial index of an entity; nil if it has none. Fetches with the same predicate may use it.
  func indexCondition(of entity: NSEntityDescription, _ random: inout SplitMix64) -> NSPredicate? {
    sequence(first: entity, next: \.superentity).flatMap { $0.indexes.compactMap(\.partialIndexPredicate) }
      .randomElement(using: &random)
  }

  /// The attributes of a constraint that an entity has or inherits; nil if there is none.
  func constraint(of entity: NSEntityDescription, _ random: inout SplitMix64) -> [String]? {
    sequence(first: entity, next: \.superentity).flatMap { constraints[$0.name!] ?? [] }.randomElement(using: &random)
  }

  /// One of few values of an attribute.
  static func value(of attribute: NSAttributeDescription, _ random: inout SplitMix64) -> Any {
    let number = Int.random(in: -2..<24, using: &random)
    switch attribute.attributeType {
    case .integer16AttributeType, .integer64AttributeType: return number
    case .doubleAttributeType: return number == -2 ? Double.nan : number == -1 ? -0.0 : Double(number) / 4
    case .floatAttributeType: return Float(number) / 10
    case .booleanAttributeType: return number > 12
    case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: Double(number) / 2)
    case .UUIDAttributeType:
      return UUID(uuid: (UInt8(number + 2), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    case .binaryDataAttributeType: return Data(repeating: UInt8(number + 2), count: number == 3 ? 300 : 2)
    case .decimalAttributeType:
      guard number != -1 else { return NSDecimalNumber.notANumber }
      return NSDecimalNumber(
        mantissa: UInt64(number.magnitude), exponent: Int16(number % 3), isNegative: number % 5 == 1)
    default:
      let long = String(repeating: "long ", count: 50)
      let texts = ["", "a", "A", "\u{e9}", "e\u{301}", "ab", "x", long + "b", long + "a"]
      return number < texts.count && number >= 0 ? texts[number] : "t\(number)"
    }
  }

  /// A value to compare an attribute with, sometimes of another type.
  func constant(for attribute: NSAttributeDescription, _ random: inout SplitMix64) -> Any {
    let value = Self.value(of: attribute, &random)
    guard let number = value as? NSNumber else { return value }
    switch Int.random(in: 0..<7, using: &random) {
    case 0: return NSDecimalNumber(value: number.doubleValue.isNaN ? 0 : number.doubleValue)
    case 1: return number.doubleValue
    case 2: return number.doubleValue.isNaN ? 0 : number.intValue
    case 3: return UInt64.max
    case 4: return number.doubleValue.isNaN ? 0.1 : (number.doubleValue * 10).rounded() / 10
    default: return value
    }
  }
}

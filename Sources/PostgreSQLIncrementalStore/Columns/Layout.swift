#if PostgreSQL
  import RowFormat

  /// The tables that a schema has in a database: STORE-FORMAT.md, section 11. They follow from the schema alone.
  struct Layout: Equatable, Sendable {
    /// The columns of an entity's table that are not columns of properties.
    enum RowColumn {
      static let reference = "cairn_reference"
      static let version = "cairn_version"
      static let revision = "cairn_revision"
      static let bytes = "cairn_bytes"
      /// Whether a column has something else than the bytes, which no column can have.
      static let isInexact = "cairn_inexact"
    }

    /// The table of a concrete entity.
    struct Table: Equatable, Sendable {
      let entity: UInt32
      let entityName: String
      /// As the server has it, without quotes.
      let name: String
      /// In the order of the properties' numbers.
      let columns: [Column]

      /// The column of an attribute or a to-one relationship, by the name of the property.
      func column(of property: String) -> Column? { columns.first { $0.propertyName == property } }
    }

    /// The column of an attribute or a to-one relationship.
    struct Column: Equatable, Sendable {
      let property: UInt32
      let propertyName: String
      /// As the server has it, without quotes.
      let name: String
      let kind: ColumnKind

      /// The names of a text's further columns: in normalisation form C, and without case and diacritics. They are null
      /// if they are the same as the text.
      var normalizedName: String { "\(name).nfc" }
      var foldedName: String { "\(name).folded" }
    }

    /// A to-many relationship, whose members have their entries in the table `cairn_members`.
    struct Relationship: Equatable, Sendable {
      let number: UInt32
      let name: String
      /// The name of the entity that declares it.
      let entityName: String
      let isOrdered: Bool
      let destination: UInt32
    }

    /// An index of the server on the table of a concrete entity.
    struct Index: Hashable, Sendable {
      let number: UInt32
      let entity: UInt32
      /// The columns of the properties in their order.
      let properties: [UInt32]

      var name: String { "cairn_index_\(number)_\(entity)" }
    }

    let kind: RowReferenceKind
    /// By the numbers of the entities.
    let tables: [UInt32: Table]
    /// By their numbers.
    let relationships: [UInt32: Relationship]
    /// The numbers of the uniqueness constraints, whose keys are in the table `cairn_keys`.
    let constraints: Set<UInt32>
    let indexes: Set<Index>
    /// For each entity, abstract ones included, the concrete entities whose objects it has, in ascending order.
    let families: [UInt32: [UInt32]]

    init(_ schema: Schema, _ kind: RowReferenceKind) {
      self.kind = kind
      let concrete = schema.entities.filter { !$0.isAbstract }
      var names = UniqueNames(reserving: [])
      var tables: [UInt32: Table] = [:]
      for entity in concrete.sorted(by: { $0.number < $1.number }) {
        tables[entity.number] = Table(
          entity: entity.number, entityName: entity.name, name: names.take(entity.name, entity.number),
          columns: Self.columns(of: entity, schema))
      }
      self.tables = tables
      var relationships: [UInt32: Relationship] = [:]
      for entity in schema.entities {
        for property in entity.properties {
          guard case .toMany(let end, let isOrdered) = property.kind else { continue }
          relationships[property.number] = Relationship(
            number: property.number, name: property.name, entityName: entity.name, isOrdered: isOrdered,
            destination: end.destination)
        }
      }
      self.relationships = relationships
      constraints = Set(schema.entities.flatMap(\.constraints).map(\.number))
      var families: [UInt32: [UInt32]] = [:]
      for entity in schema.entities {
        families[entity.number] = schema.family(of: entity.number).map(\.number).filter { tables[$0] != nil }.sorted()
      }
      self.families = families
      var indexes: Set<Index> = []
      for index in schema.indexes where index.state != .dropping {
        for entity in families[index.entity] ?? [] {
          guard let table = tables[entity],
            index.properties.allSatisfy({ number in table.columns.contains { $0.property == number } })
          else { continue }
          indexes.insert(Index(number: index.number, entity: entity, properties: index.properties))
        }
      }
      self.indexes = indexes
    }

    private static func columns(of entity: Schema.Entity, _ schema: Schema) -> [Column] {
      var names = UniqueNames(
        reserving: ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"])
      return schema.properties(of: entity.number).sorted { $0.number < $1.number }.compactMap { property in
        ColumnKind(property.kind).map {
          Column(
            property: property.number, propertyName: property.name, name: names.take(property.name, property.number),
            kind: $0)
        }
      }
    }
  }

  /// What the column of a property has, and how a search may compare it.
  enum ColumnKind: Equatable, Sendable {
    case boolean
    /// Of 16, 32 or 64 bits: all are `bigint`.
    case integer
    /// Also of the type float: `double precision`.
    case double
    case decimal
    /// With a column in normalisation form C and one without case and diacritics.
    case text
    /// Seconds since 2001-01-01 00:00 UTC: no type of the server has all dates exactly.
    case date
    case data
    case uuid
    /// The text of a URI, or of the URI of an object in another store.
    case uri
    /// What a transformer has made.
    case transformed
    /// A composite value as JSON.
    case composite
    /// The reference of an object of the entity or of one that inherits from it. References are unique in a store.
    case toOne(destination: UInt32)

    /// Nil for to-many relationships and for attributes whose values are not stored.
    init?(_ kind: Schema.Kind) {
      switch kind {
      case .toOne(let relationship): self = .toOne(destination: relationship.destination)
      case .toMany: return nil
      case .attribute(let type):
        switch type {
        case 100, 200, 300: self = .integer
        case 400: self = .decimal
        case 500, 600: self = .double
        case 700: self = .text
        case 800: self = .boolean
        case 900: self = .date
        case 1000: self = .data
        case 1100: self = .uuid
        case 1200, 2000: self = .uri
        case 1800: self = .transformed
        case 2100: self = .composite
        default: return nil
        }
      }
    }

    func type(_ kind: RowReferenceKind) -> String {
      switch self {
      case .boolean: "boolean"
      case .integer: "bigint"
      case .double, .date: "double precision"
      case .decimal: "numeric"
      case .text, .uri: "text COLLATE \"C\""
      case .data, .transformed: "bytea"
      case .uuid: "uuid"
      case .composite: "jsonb"
      case .toOne: kind == .uuid ? "uuid" : "bigint"
      }
    }
  }

  /// Names of tables or columns, none of which is that of the store's own tables or columns, or is too long.
  private struct UniqueNames {
    private static let longest = 50
    private var taken: Set<String>

    init(reserving names: Set<String>) { taken = names }

    /// The name itself, or if that cannot be, the name with the number after it.
    mutating func take(_ name: String, _ number: UInt32) -> String {
      var result = name
      let isPlain =
        name.utf8.count <= Self.longest && !name.hasPrefix("cairn_") && !name.utf8.contains(0)
        && !name.contains(".") && !taken.contains(name)
      if !isPlain {
        var short = name.filter { $0 != "." && $0 != "\0" }
        while short.utf8.count > Self.longest - 11 { short.removeLast() }
        result = "\(short).\(number)"
      }
      taken.insert(result)
      return result
    }
  }
#endif

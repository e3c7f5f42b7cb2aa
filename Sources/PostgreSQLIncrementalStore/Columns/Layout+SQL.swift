#if PostgreSQL
  import RowFormat

  extension Layout.Table {
    /// The name, quoted.
    var quoted: String { Connection.quoted(name) }

    func serverColumns(_ kind: RowReferenceKind) -> [ServerColumn] { columns.flatMap { $0.serverColumns(kind) } }
  }

  extension Layout.Column {
    var quoted: String { Connection.quoted(name) }

    /// What an index has of the column: index rows have at most 2,704 bytes.
    var indexed: String {
      switch kind {
      case .text: Self.prefix(ofText: "COALESCE(\(Connection.quoted(normalizedName)), \(quoted))")
      case .uri: Self.prefix(ofText: quoted)
      case .data: Self.prefix(ofData: quoted)
      default: quoted
      }
    }

    /// How many characters of a text, or bytes of data, an index has.
    static let indexedLength = 100

    static func prefix(ofText expression: String) -> String { "left(\(expression), \(indexedLength))" }

    static func prefix(ofData expression: String) -> String { "substring(\(expression) FOR \(indexedLength))" }

    /// Whether an index of the server can have the column.
    var canBeIndexed: Bool {
      switch kind {
      case .transformed, .composite: false
      default: true
      }
    }
  }

  extension Layout {
    private var referenceType: String { kind == .uuid ? "uuid" : "bigint" }

    /// The table of a new entity.
    func creation(of table: Table) -> String {
      let own = [
        "\(RowColumn.reference) \(referenceType) PRIMARY KEY", "\(RowColumn.version) bigint NOT NULL",
        "\(RowColumn.revision) bigint NOT NULL", "\(RowColumn.bytes) bytea NOT NULL",
        "\(RowColumn.isInexact) boolean NOT NULL",
      ]
      return """
        CREATE TABLE \(table.quoted) (\((own + table.columns.flatMap(definitions)).joined(separator: ", ")));
        CREATE INDEX "cairn_inexact_\(table.entity)" ON \(table.quoted) (\(RowColumn.reference))
          WHERE \(RowColumn.isInexact);
        """
    }

    /// The definitions of a property's columns.
    func definitions(of column: Column) -> [String] {
      column.serverColumns(kind).map { "\($0.quoted) \(column.kind.type(kind))" }
    }

    /// The indexes on columns, by their names: those of the model, and one for each to-one relationship.
    var indexDefinitions: [String: String] {
      var definitions: [String: String] = [:]
      for index in indexes {
        guard let table = tables[index.entity] else { continue }
        let columns = index.properties.compactMap { number in table.columns.first { $0.property == number } }
        guard columns.allSatisfy(\.canBeIndexed) else { continue }
        let keys = columns.map { "\($0.indexed) NULLS FIRST" } + [RowColumn.reference]
        definitions[index.name] = "ON \(table.quoted) (\(keys.joined(separator: ", ")))"
      }
      for table in tables.values {
        for column in table.columns {
          guard case .toOne = column.kind else { continue }
          definitions["cairn_to_one_\(column.property)_\(table.entity)"] = "ON \(table.quoted) (\(column.quoted))"
        }
      }
      return definitions
    }

    // MARK: For other programs

    /// The views, by their names without quotes.
    func views(_ schema: Schema) -> [String: String] {
      var views: [String: String] = [:]
      /// A name of at most 63 bytes; with a number if the name itself is that of another view.
      func name(_ entity: String, _ part: String, _ number: UInt32) -> String {
        let name = "\(Self.short(entity)).\(Self.short(part))"
        return views[name] == nil ? name : "\(name).\(number)"
      }
      for entity in schema.entities {
        let tables = (families[entity.number] ?? []).compactMap { self.tables[$0] }
        guard !tables.isEmpty else { continue }
        let names = schema.properties(of: entity.number).map(\.name)
        views[name(entity.name, "all", entity.number)] =
          tables.map { table in
            let columns = names.compactMap { table.column(of: $0) }.map { column in
              "\(Self.readable(column)) AS \(Connection.quoted(column.name))"
            }
            let own = [
              "\(RowColumn.reference) AS reference", "\(Self.literal(table.entityName)) AS entity",
              "\(RowColumn.version) AS version",
            ]
            return "SELECT \((own + columns).joined(separator: ", ")) FROM \(table.quoted)"
          }.joined(separator: " UNION ALL ")
      }
      for relationship in relationships.values.sorted(by: { $0.number < $1.number }) {
        let position = relationship.isOrdered ? "position, " : ""
        views[name(relationship.entityName, relationship.name, relationship.number)] = """
          SELECT owner, \(position)member, e.name AS entity
          FROM cairn_members m LEFT JOIN cairn_entities e ON e.number = m.entity
          WHERE m.relationship = \(relationship.number)
          """
      }
      return views
    }

    private static func short(_ name: String) -> String {
      var short = name.filter { $0 != "\0" }
      while short.utf8.count > 25 { short.removeLast() }
      return short
    }

    private static func readable(_ column: Column) -> String {
      guard column.kind == .date else { return column.quoted }
      // Other dates are none of the server's.
      return """
        CASE WHEN \(column.quoted) > -2e11 AND \(column.quoted) < 9e12 THEN to_timestamp(\(column.quoted) + 978307200) END
        """
    }

    /// A text as a literal of the server.
    static func literal(_ text: String) -> String {
      "'\(text.replacing("'", with: "''").replacing("\0", with: ""))'"
    }

    /// The statements that write what the tables and columns mean.
    func catalogue(_ schema: Schema) -> String {
      var statements = ["DELETE FROM cairn_entities", "DELETE FROM cairn_properties"]
      for entity in schema.entities {
        let table = tables[entity.number].map { Self.literal($0.name) } ?? "NULL"
        statements.append(
          "INSERT INTO cairn_entities VALUES (\(entity.number), \(Self.literal(entity.name)), "
            + "\(entity.superentity == 0 ? "NULL" : "\(entity.superentity)"), \(table))")
        for property in entity.properties {
          let column = tables.values.lazy.flatMap(\.columns).first { $0.property == property.number }
          let kind =
            switch property.kind {
            case .attribute(let type): Schema.attributeTypeName(type)
            case .toOne: "to one"
            case .toMany(_, let isOrdered): isOrdered ? "to many, ordered" : "to many"
            }
          let destination = property.kind.relationship.map { "\($0.destination)" } ?? "NULL"
          statements.append(
            "INSERT INTO cairn_properties VALUES (\(property.number), \(entity.number), "
              + "\(Self.literal(property.name)), \(Self.literal(kind)), \(destination), "
              + "\(column.map { Self.literal($0.name) } ?? "NULL"))")
        }
      }
      return statements.joined(separator: ";\n") + ";"
    }
  }
#endif

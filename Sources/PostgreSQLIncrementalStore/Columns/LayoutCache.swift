#if PostgreSQL
  import IncrementalStore
  import RowFormat
  import Synchronization

  /// A layout, and what it was made from.
  struct KnownLayout: Sendable {
    let schema: Schema
    let layout: Layout
    /// Those that are not made anew for each statement, by their numbers.
    private let tables: [UInt32: RowTable]
    /// By the numbers of the entities.
    let completions: [UInt32: RowCompletion]
    private let properties: [UInt32: [String: Schema.Property]]
    /// The revision of the schema's row; 0 if there is none.
    let revision: UInt64

    init(_ schema: Schema, _ revision: UInt64, _ kind: RowReferenceKind) {
      (self.schema, self.revision) = (schema, revision)
      let layout = Layout(schema, kind)
      self.layout = layout
      tables = ([0] + layout.tables.keys).reduce(into: [:]) { $0[$1] = RowTable($1, in: layout) }
      completions = schema.completions
      properties = schema.entities.reduce(into: [:]) { properties, entity in
        let own = schema.properties(of: entity.number).map { ($0.name, $0) }
        properties[entity.number] = Dictionary(uniqueKeysWithValues: own)
      }
    }

    /// Fails with ``Statement/wrongRows`` unless the schema's row has the revision of the layout, and table 0 does not
    /// have certain other rows.
    ///
    /// - Parameter calls: Functions of the server that it calls besides.
    func check(absent: [RowReference], _ calls: String? = nil) -> Statement {
      let head = table(StoreHead.table)
      let more = calls.map { ", \($0)" } ?? ""
      let isCurrent = "count(*) = 1 AND bool_and(\(RowTable.isSchema) AND r.revision = $2)"
      var statement = Statement(
        text: """
          SELECT \(Statement.requiring(isCurrent, "'Cairn: the schema has changed since it was read'"))\(more)
          FROM cairn_rows r WHERE r.entity = \(StoreHead.table) AND r.reference = ANY($1)
          """)
      head.add([StoreHead.schemaReference] + absent, to: &statement.parameters)
      statement.parameters.add(Int64(bitPattern: revision))
      return statement
    }

    /// A property of the objects of an entity, which may inherit it.
    func property(_ name: String, of entity: UInt32) -> Schema.Property? { properties[entity]?[name] }

    func table(_ number: UInt32) -> RowTable { tables[number] ?? RowTable(number, in: layout) }
  }

  /// The layout that a process has seen last. Others may have changed it since.
  final class LayoutCache: Sendable {
    private let known: Mutex<KnownLayout>

    init(_ kind: RowReferenceKind) { known = Mutex(KnownLayout(Schema(), 0, kind)) }

    var current: KnownLayout { known.withLock { $0 } }

    func note(_ layout: KnownLayout) {
      known.withLock { if layout.revision > $0.revision { $0 = layout } }
    }
  }
#endif

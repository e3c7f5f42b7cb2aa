#if PostgreSQL
  import CoreData
  import IncrementalStore
  import RowFormat

  /// The tables in which entries are.
  enum EntryTable: CaseIterable {
    /// The members of relationships, with columns beside them.
    case members
    /// The keys of uniqueness constraints. No two entries can have the same key.
    case keys
    /// All others.
    case others

    /// The table of the entries that begin with a number.
    init(_ number: UInt32?, _ layout: Layout) {
      self =
        if let number, layout.relationships[number] != nil {
          .members
        } else if let number, layout.constraints.contains(number) {
          .keys
        } else {
          .others
        }
    }

    /// The tables that may have entries between two bounds, which is one unless the entries have different numbers.
    static func tables(from lower: [UInt8], before upper: [UInt8]?, _ layout: Layout) -> [EntryTable] {
      var input = ByteInput(lower)
      guard let number = try? input.number(), let upper, let end = Entry.successor(of: Entry.all(of: number)),
        !end.lexicographicallyPrecedes(upper)
      else { return allCases }
      return [EntryTable(number, layout)]
    }

    init(of entry: [UInt8], _ layout: Layout) {
      var input = ByteInput(entry)
      self.init(try? input.number(), layout)
    }

    var name: String {
      switch self {
      case .members: "cairn_members"
      case .keys: "cairn_keys"
      case .others: "cairn_entries"
      }
    }

    /// The columns that an entry is in, one after the other. They compare as the whole does.
    var columns: [String] {
      switch self {
      case .members: ["entry"]
      case .keys: ["key", "holder"]
      case .others: ["head", "tail"]
      }
    }

    /// How many bytes of a prefix the first column has at most.
    func isInFirstColumn(_ prefix: [UInt8]) -> Bool { split(prefix).count == 1 || split(prefix)[1].isEmpty }

    /// An entry, or a bound of entries, as the columns have it.
    func split(_ entry: [UInt8]) -> [[UInt8]] {
      switch self {
      case .members: return [entry]
      case .others: return [Array(entry.prefix(Tables.headLength)), Array(entry.dropFirst(Tables.headLength))]
      case .keys:
        var input = ByteInput(entry)
        // A bound may end within a key.
        guard (try? input.number()) != nil, (try? input.counted()) != nil else { return [entry, []] }
        return [Array(entry[..<input.offset]), Array(entry[input.offset...])]
      }
    }

    /// Selects the place of a prefix, counted from 1, and an entry that begins with it, for each prefix at most `limit`.
    func selection(beginningWith prefixes: [[UInt8]], _ limit: Int) -> Statement {
      let names = columns.joined(separator: ", ")
      let selected = columns.map { "e.\($0)" }.joined(separator: ", ")
      var statement = Statement(
        text: """
          SELECT p.place, \(selected)
          FROM unnest($1, $2) WITH ORDINALITY AS p (low, high, place)
          CROSS JOIN LATERAL (
            SELECT \(names) FROM \(name) WHERE \(columns[0]) >= p.low AND \(columns[0]) < p.high
            ORDER BY \(names) LIMIT $3
          ) e
          ORDER BY p.place, \(selected)
          """)
      statement.parameters.add(prefixes)
      statement.parameters.add(prefixes.map { Entry.successor(of: $0) ?? [] })
      statement.parameters.add(Int64(limit))
      return statement
    }

    // MARK: Writing

    /// Removes entries.
    func deletion(_ entries: ArraySlice<[UInt8]>) -> Statement {
      let names = columns.joined(separator: ", ")
      let conditions = columns.map { "e.\($0) = n.\($0)" }.joined(separator: " AND ")
      var statement = Statement(
        text: "DELETE FROM \(name) e USING unnest(\(Self.list(columns.count))) AS n (\(names)) WHERE \(conditions)")
      add(entries, to: &statement.parameters)
      return statement
    }

    /// Adds entries.
    ///
    /// - Throws: An error if one of them is not an entry of its relationship.
    func insertion(_ entries: ArraySlice<[UInt8]>, _ layout: Layout) throws -> Statement {
      switch self {
      case .members: return try insertion(ofMembers: entries, layout)
      case .others:
        var statement = Statement(
          text: """
            INSERT INTO cairn_entries (head, tail) SELECT n.head, n.tail FROM unnest($1, $2) AS n (head, tail)
            ON CONFLICT DO NOTHING
            """)
        add(entries, to: &statement.parameters)
        return statement
      case .keys: return insertion(ofKeys: entries)
      }
    }

    /// The key of another holder is a conflict, at whatever level the transaction is isolated: then fewer rows are
    /// changed than there are keys.
    func insertion(ofKeys entries: ArraySlice<[UInt8]>) -> Statement {
      var statement = Statement(
        text: """
          INSERT INTO cairn_keys AS k (key, holder) SELECT n.key, n.holder FROM unnest($1, $2) AS n (key, holder)
          ON CONFLICT (key) DO UPDATE SET holder = excluded.holder WHERE k.holder = excluded.holder
          """)
      add(entries, to: &statement.parameters)
      statement.count = entries.count
      return statement
    }

    private func insertion(ofMembers entries: ArraySlice<[UInt8]>, _ layout: Layout) throws -> Statement {
      typealias Number = Parameters.TypeNumber
      let members = try entries.map { try Member($0, layout) }
      var statement = Statement(
        text: """
          INSERT INTO cairn_members (entry, relationship, owner, position, entity, member)
          SELECT * FROM unnest(\(Self.list(6))) ON CONFLICT DO NOTHING
          """)
      let references =
        layout.kind == .uuid ? (Number.uuidArray, Number.uuid) : (Number.int8Array, Number.int8)
      statement.parameters.add(entries)
      statement.parameters.add(Number.int8Array, of: Number.int8, members.map { Int64($0.relationship).bigEndianBytes })
      statement.parameters.add(references.0, of: references.1, members.map { $0.owner.columnBytes })
      statement.parameters.add(Number.int8Array, of: Number.int8, members.map { $0.position?.bigEndianBytes })
      statement.parameters.add(
        Number.int8Array, of: Number.int8, members.map { Int64($0.member.entity).bigEndianBytes })
      statement.parameters.add(references.0, of: references.1, members.map { $0.member.reference.columnBytes })
      return statement
    }

    func add(_ entries: some Collection<[UInt8]>, to parameters: inout Parameters) {
      let split = entries.map { self.split($0) }
      for column in columns.indices { parameters.add(split.map { $0[column] }) }
    }

    static func list(_ count: Int) -> String { (1...count).map { "$\($0)" }.joined(separator: ", ") }
  }

  /// What the columns have beside the entry of a member.
  struct Member {
    let relationship: UInt32
    let owner: RowReference
    let position: Int64?
    let member: ObjectReference

    init(_ entry: [UInt8], _ layout: Layout) throws {
      var input = ByteInput(entry)
      (relationship, owner, position, member) = try StoreFailure.reading("An entry of a relationship") {
        let number = try input.number()
        let owner = try input.reference()
        let position = layout.relationships[number]?.isOrdered == true ? try input.position() : nil
        let member = try input.object()
        try input.requireEnd()
        return (number, owner, position, member)
      }
      guard owner.columnBytes != nil, member.reference.columnBytes != nil else {
        throw StoreFailure.make(
          NSPersistentStoreSaveError, "The store has references of another kind than \(owner) and \(member.reference).")
      }
    }
  }
#endif

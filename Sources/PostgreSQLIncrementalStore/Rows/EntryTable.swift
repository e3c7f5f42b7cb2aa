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

    /// Selects the place of a prefix, counted from 1, and an entry that begins with it: at most `limit` for each prefix.
    func selection(beginningWith prefixes: [[UInt8]], _ limit: Int) -> Statement {
      var statement = Statement(text: texts.selection)
      statement.parameters.add(prefixes)
      statement.parameters.add(prefixes.map { Entry.successor(of: $0) ?? [] })
      statement.parameters.add(Int64(limit))
      return statement
    }

    // MARK: Writing

    /// Removes entries.
    func deletion(_ entries: [[UInt8]]) -> Statement {
      var statement = Statement(text: texts.deletion)
      add(entries, to: &statement.parameters)
      return statement
    }

    /// Adds entries. The key of another holder is a conflict, at whatever level the transaction is isolated: then fewer
    /// rows are changed than there are keys.
    ///
    /// - Throws: An error if one of them is not an entry of its relationship.
    func insertion(_ entries: [[UInt8]], _ layout: Layout) throws -> Statement {
      var statement = Statement(text: texts.insertion)
      switch self {
      case .members: try add(members: entries, layout, to: &statement.parameters)
      case .others: add(entries, to: &statement.parameters)
      case .keys:
        add(entries, to: &statement.parameters)
        statement.parameters.add(Int64(entries.count))
      }
      return statement
    }

    private func add(members entries: [[UInt8]], _ layout: Layout, to parameters: inout Parameters) throws {
      typealias Number = Parameters.TypeNumber
      var (relationships, owners, positions) = (ParameterArray(), ParameterArray(), ParameterArray())
      var (entities, references) = (ParameterArray(), ParameterArray())
      for entry in entries {
        let member = try Member(entry, layout)
        relationships.append(bigEndian: Int64(member.relationship))
        owners.append(member.owner)
        if let position = member.position { positions.append(bigEndian: position) } else { positions.appendNull() }
        entities.append(bigEndian: Int64(member.member.entity))
        references.append(member.member.reference)
      }
      let (array, element) =
        layout.kind == .uuid ? (Number.uuidArray, Number.uuid) : (Number.int8Array, Number.int8)
      parameters.add(entries)
      parameters.add(Number.int8Array, of: Number.int8, relationships)
      parameters.add(array, of: element, owners)
      parameters.add(Number.int8Array, of: Number.int8, positions)
      parameters.add(Number.int8Array, of: Number.int8, entities)
      parameters.add(array, of: element, references)
    }

    // MARK: Texts of statements

    private struct Texts {
      let (selection, insertion, deletion): (String, String, String)

      init(_ table: EntryTable) {
        let names = table.columns.joined(separator: ", ")
        let selected = table.columns.map { "e.\($0)" }.joined(separator: ", ")
        selection = """
          SELECT p.place, \(selected)
          FROM unnest($1, $2) WITH ORDINALITY AS p (low, high, place)
          CROSS JOIN LATERAL (
            SELECT \(names) FROM \(table.name) WHERE \(table.columns[0]) >= p.low AND \(table.columns[0]) < p.high
            ORDER BY \(names) LIMIT $3
          ) e
          ORDER BY p.place, \(selected)
          """
        let sent = "unnest(\(EntryTable.list(table.columns.count))) AS n (\(names))"
        let areSame = table.columns.map { "e.\($0) = n.\($0)" }.joined(separator: " AND ")
        deletion = "DELETE FROM \(table.name) e USING \(sent) WHERE \(areSame)"
        insertion =
          switch table {
          case .members:
            """
            INSERT INTO cairn_members (entry, relationship, owner, position, entity, member)
            SELECT * FROM unnest(\(EntryTable.list(6))) ON CONFLICT DO NOTHING
            """
          case .others: "INSERT INTO cairn_entries (\(names)) SELECT \(names) FROM \(sent) ON CONFLICT DO NOTHING"
          case .keys:
            Statement.checkingCount(
              """
              INSERT INTO cairn_keys AS k (\(names)) SELECT n.key, n.holder FROM \(sent)
              ON CONFLICT (key) DO UPDATE SET holder = excluded.holder WHERE k.holder = excluded.holder
              """, parameters: table.columns.count)
          }
      }
    }

    private static let (membersTexts, keysTexts, othersTexts) = (Texts(.members), Texts(.keys), Texts(.others))

    private var texts: Texts {
      switch self {
      case .members: Self.membersTexts
      case .keys: Self.keysTexts
      case .others: Self.othersTexts
      }
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

#if PostgreSQL
  import ArgumentParser
  import Foundation

  /// Rows of the store as statements by hand read and write them.
  struct Sample {
    /// A number of an entity that no store has.
    private static let entity: Int32 = 1_000_001
    private let bugs: Int32
    private let references: [[UInt8]]
    private let bytes: [UInt8]
    /// The entries of the index, in order.
    private let entries: [[UInt8]]

    init(_ peer: Peer) throws {
      var bugs: Int32 = 0
      try peer.run("SELECT entity FROM cairn_rows GROUP BY entity ORDER BY count(*) DESC LIMIT 1", []) { result in
        bugs = Peer.value(result, 0, 0).reduce(0) { $0 << 8 | Int32($1) }
      }
      self.bugs = bugs
      var (references, bytes, entries): ([[UInt8]], [UInt8], [[UInt8]]) = ([], [], [])
      let count = try peer.run("SELECT reference FROM cairn_rows WHERE entity = $1", [.int4(bugs)]) { result in
        references = (0..<10_000).map { Peer.value(result, $0, 0) }
      }
      try peer.run("SELECT bytes FROM cairn_rows WHERE entity = $1 LIMIT 1", [.int4(bugs)]) { result in
        bytes = Peer.value(result, 0, 0)
      }
      try peer.run("SELECT head FROM cairn_entries ORDER BY head LIMIT 10000", []) { result in
        entries = (0..<10_000).map { Peer.value(result, $0, 0) }
      }
      guard count >= 10_000 else { throw ValidationError("At least 10,000 objects are needed.") }
      (self.references, self.bytes, self.entries) = (references, bytes, entries)
    }

    func save(_ count: Int, _ peer: Peer) throws {
      let references = (0..<count).map { _ in [0x40] + withUnsafeBytes(of: UUID().uuid) { Array($0) } }
      try peer.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
      try peer.run(
        "INSERT INTO cairn_saves (number, revision) VALUES ($1, nextval('cairn_revisions'))", [.uuid(UUID())])
      try peer.run(
        """
        INSERT INTO cairn_rows (entity, reference, bytes, version, revision)
        SELECT $1, n.reference, n.bytes, 1, 1 FROM unnest($2, $3) AS n (reference, bytes)
        """, [.int4(Self.entity), .many(references), .many(references.map { _ in bytes })])
      try peer.run(
        "INSERT INTO cairn_entries (head, tail) SELECT e, '' FROM unnest($1) AS n (e)",
        [.many(references.map { [0xFF, 0x7F, 0, 0, 0, 0] + $0 })])
      try peer.run("COMMIT")
    }

    func read(_ count: Int, _ peer: Peer) throws {
      let found = try peer.run(
        "SELECT reference, bytes, version, revision FROM cairn_rows WHERE entity = $1 AND reference = ANY($2)",
        [.int4(bugs), .many(Array(references[Int.random(in: 0...references.count - count)...].prefix(count)))]
      ) { result in for row in 0..<count { _ = Peer.value(result, row, 1) } }
      guard found == count else { throw ValidationError("By hand, \(found) rows were found.") }
    }

    /// Reads entries of the index, and the rows to which they lead: their references end the entries.
    func search(_ count: Int, _ peer: Peer) throws {
      let first = Int.random(in: 0..<entries.count - count)
      var found: [[UInt8]] = []
      try peer.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
      try peer.run(
        "SELECT head FROM cairn_entries WHERE head >= $1 AND head < $2 ORDER BY head",
        [.bytes(entries[first]), .bytes(entries[first + count])]
      ) { result in found = (0..<count).map { Peer.value(result, $0, 0) } }
      let wanted = references.prefix(found.count)
      try peer.run(
        "SELECT reference, bytes, version, revision FROM cairn_rows WHERE entity = $1 AND reference = ANY($2)",
        [.int4(bugs), .many(Array(wanted))]
      ) { result in for row in 0..<count { _ = Peer.value(result, row, 1) } }
      try peer.run("ROLLBACK")
    }
  }
#endif

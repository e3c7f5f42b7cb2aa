#if PostgreSQL
  import ArgumentParser
  import Foundation

  /// Rows of the store as statements by hand read and write them: the columns of the same table.
  struct Sample {
    /// What a program without objects keeps of a row, with the version that it needs to change the row.
    private struct Bug {
      let reference: Int64
      let version: Int64
      let number: Int64
      let title: String
      let isOpen: Bool

      static let columns = #"cairn_reference, cairn_version, number, title, "isOpen""#

      init(_ result: OpaquePointer, _ row: Int) {
        reference = Peer.number(result, row, 0)
        version = Peer.number(result, row, 1)
        number = Peer.number(result, row, 2)
        title = Peer.text(result, row, 3)
        isOpen = Peer.number(result, row, 4) != 0
      }
    }

    /// In any order, as the store reads them.
    private let references: [Int64]
    private let bytes: [UInt8]
    private let objects: Int

    init(_ peer: Peer, objects: Int) throws {
      var (references, bytes): ([Int64], [UInt8]) = ([], [])
      let count = try peer.run(#"SELECT cairn_reference, cairn_bytes FROM "Bug" LIMIT \#(objects)"#, []) { result in
        references = (0..<objects).map { Peer.number(result, $0, 0) }
        bytes = Peer.value(result, 0, 1)
      }
      guard count == objects else { throw ValidationError("There are only \(count) objects.") }
      (self.references, self.bytes, self.objects) = (references.shuffled(), bytes, objects)
    }

    func save(_ count: Int, _ peer: Peer) throws {
      let references = (0..<count).map { _ in Int64.random(in: .min ..< -1) }
      let title = "Bug 123456 of many, with a title of the usual length"
      try peer.run("BEGIN ISOLATION LEVEL SERIALIZABLE")
      try peer.run(
        """
        INSERT INTO cairn_saves (number, client, revision) VALUES ($1, $1, nextval('cairn_revisions'))
        """, [.uuid(UUID())])
      try peer.run(
        """
        INSERT INTO "Bug" (cairn_reference, cairn_bytes, cairn_version, cairn_revision, cairn_inexact,
          number, title, "title.folded", "isOpen")
        SELECT n.reference, n.bytes, 1, currval('cairn_revisions'), false, n.number, n.title, n.folded, n.open
        FROM unnest($1, $2, $3, $4, $5, $6) AS n (reference, bytes, number, title, folded, open)
        """,
        [
          .numbers(references), .many(references.map { _ in bytes }), .numbers(references.map { _ in -1 }),
          .texts(references.map { _ in title }), .texts(references.map { _ in title.lowercased() }),
          .flags(references.map { $0 % 3 == 0 }),
        ])
      try peer.run("COMMIT")
    }

    func read(_ count: Int, _ peer: Peer) throws {
      let wanted = Array(references[Int.random(in: 0...references.count - count)...].prefix(count))
      var bugs: [Bug] = []
      try peer.run(#"SELECT \#(Bug.columns) FROM "Bug" WHERE cairn_reference = ANY($1)"#, [.numbers(wanted)]) {
        bugs = Peer.rows($0, Bug.init)
      }
      try check(bugs, count)
    }

    func search(_ count: Int, _ peer: Peer) throws {
      let first = Int64.random(in: 0..<Int64(objects - count))
      var bugs: [Bug] = []
      try peer.run(
        #"SELECT \#(Bug.columns) FROM "Bug" WHERE number >= $1 AND number < $2 ORDER BY cairn_reference"#,
        [.int8(first), .int8(first + Int64(count))]
      ) { bugs = Peer.rows($0, Bug.init) }
      try check(bugs, count)
    }

    private func check(_ bugs: [Bug], _ count: Int) throws {
      guard bugs.count == count, bugs.allSatisfy({ !$0.title.isEmpty }) else {
        throw ValidationError("By hand, \(bugs.count) rows were found.")
      }
    }
  }
#endif

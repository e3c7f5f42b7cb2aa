import CairnSimulation

@testable import Cairn
@testable import CairnInspection

/// A store whose files may contain any bytes.
struct FuzzedStore {
  private static let path = "/store"
  private let files = MemoryFileLayer()

  init(_ contents: [String: [UInt8]]) throws(FuzzFinding) {
    do throws(FileError) {
      try files.createDirectory(Self.path)
      for (name, bytes) in contents { try write(bytes, name) }
    } catch {
      throw FuzzFinding("no files could be made: \(error)")
    }
  }

  private func write(_ bytes: [UInt8], _ name: String) throws(FileError) {
    let file = try files.open("\(Self.path)/\(name)", .create)
    try file.writeAll(bytes, at: 0)
    file.close()
  }

  private func open(_ access: StoreOptions.Access) throws(StoreError) -> Store {
    var options = StoreOptions()
    options.segmentSize = 1 << 16
    options.access = access
    let environment = Environment(
      files: files, clock: { 1_700_000_000_000_000_000 }, random: { 42 }, scheduler: ManualScheduler())
    return try Store.open(at: Self.path, options: options, environment: environment)
  }

  private typealias Rows = [KeyspaceID: [Row]]

  /// The files, by name, of a store that has a checkpoint and rows written after it.
  static func withCheckpoint() throws -> [String: [UInt8]] {
    let made = try FuzzedStore([:])
    let store = try made.open(.readWrite)
    let ordered = try store.keyspace("ordered")
    let unordered = try store.keyspace("unordered", order: .unordered)
    try store.setRetention(.last(3), of: ordered)
    for round in 0..<3 as Range<Int64> {
      try store.write { batch in
        for number in 0..<40 as Range<Int64> {
          try batch.put([UInt8(round)], at: [.integer(number * 3), "row"], in: ordered)
          try batch.put([], at: .integer(round * 100 + number), in: unordered)
        }
      }
      if round == 1 {
        for number in 0..<5 as Range<Int64> { try store.delete([.integer(number * 3), "row"], in: ordered) }
        try store.checkpoint()
      }
    }
    try store.delete([9, "row"], in: ordered)
    try store.close()
    let prefix = "\(path)/"
    return Dictionary(
      uniqueKeysWithValues: made.files.contents.filter { $0.key.hasPrefix(prefix) && !$0.key.hasSuffix("LOCK") }
        .map { (String($0.key.dropFirst(prefix.count)), $0.value) })
  }

  /// Reads everything and writes a little. For a store whose index may be wrong although its checksums are right:
  /// ignores errors, and what is read is not checked.
  func endure() {
    do throws(StoreError) {
      for access in [StoreOptions.Access.readOnly, .readWrite] {
        let store = try open(access)
        defer { try? store.close() }
        let snapshot = store.snapshot()
        for keyspace in store.keyspaces {
          let rows = (try? snapshot.rows(in: keyspace)) ?? []
          _ = try? snapshot.count(in: keyspace)
          if keyspace.order == .ordered { _ = try? snapshot.rows(in: keyspace, reverse: true) }
          for row in rows { _ = try? store.row(row.key, in: keyspace) }
          for number in 0..<40 as Range<Int64> {
            _ = try? store.history(of: [.integer(number * 3), "row"], in: keyspace)
          }
        }
        _ = store.statistics
        guard access == .readWrite else { continue }
        try store.put([1], at: "row", in: try store.keyspace("fuzz"))
        for keyspace in store.keyspaces {
          _ = try? store.write { batch in
            for number in 0..<40 as Range<Int64> {
              try batch.put([9], at: [.integer(number * 3), "row"], in: keyspace)
            }
          }
          try store.setRetention(.newest, of: keyspace)
        }
        try store.compact(.everything)
        try store.checkpoint()
      }
    } catch {
      // An error is as good an outcome as rows.
    }
  }

  /// Reads everything, writes, and reads again. Errors of the store's own type are as good an outcome as rows.
  func use() throws(FuzzFinding) {
    do {
      _ = try? Verifier(at: Self.path, files: files).run()
      if let reader = try? open(.readOnly) {
        _ = try Self.rows(reader)
        try reader.close()
      }
      let store = try open(.readWrite)
      defer { try? store.close() }
      guard let before = try Self.rows(store) else { return }
      let name = "fuzz"
      guard !store.keyspaces.contains(where: { $0.name == name }) else { return }
      let keyspace = try store.keyspace(name)
      try store.put([1, 2, 3], at: "row", in: keyspace)
      var expected = before
      expected[keyspace.id] = try store.read { try $0.rows(in: keyspace) }
      guard try Self.rows(store) == expected else { throw FuzzFinding("a write has changed other rows") }
      try store.close()

      let again: Store
      do {
        again = try open(.readWrite)
      } catch {
        throw FuzzFinding("written to, and not to be opened again: \(error)")
      }
      defer { try? again.close() }
      guard try Self.rows(again) == expected else { throw FuzzFinding("other rows after opening again") }
    } catch let finding as FuzzFinding {
      throw finding
    } catch is StoreError {
    } catch {
      throw FuzzFinding("no error of the store's: \(error)")
    }
  }

  /// The rows of each keyspace, read in every way; nil if some cannot be read.
  private static func rows(_ store: Store) throws -> Rows? {
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    var all: Rows = [:]
    for keyspace in store.keyspaces {
      let rows: [Row]
      do throws(StoreError) {
        rows = try snapshot.rows(in: keyspace)
      } catch {
        return nil
      }
      guard try snapshot.count(in: keyspace) == rows.count, try snapshot.count(.all, in: keyspace) == rows.count else {
        throw FuzzFinding("\(rows.count) rows, and another number counted")
      }
      for row in rows where try store.row(row.key, in: keyspace) != row {
        throw FuzzFinding("\(row.key) is found in a scan and not by itself")
      }
      let keys = rows.map(\.key)
      if keyspace.order == .ordered {
        guard keys == keys.sorted(), Set(keys).count == rows.count,
          try snapshot.rows(in: keyspace, reverse: true) == rows.reversed()
        else { throw FuzzFinding("rows out of order") }
      }
      all[keyspace.id] = keyspace.order == .ordered ? rows : rows.sorted { $0.key < $1.key }
    }
    return all
  }
}

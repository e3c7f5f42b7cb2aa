import CairnInspection
import CairnSimulation
import Testing

@testable import Cairn

/// What salvaging makes of a keyspace that was dropped, when the record of the drop is lost.
@Suite struct SalvageTests {
  /// How much the manifest tells of the dropped keyspace.
  enum Manifested: CaseIterable {
    /// The manifest is older than the keyspace.
    case nothing
    /// The manifest lists the keyspace still.
    case definition
    /// The manifest lists the keyspace no longer.
    case drop
  }

  /// Runs no background work.
  private struct IdleScheduler: Scheduler {
    func schedule(_ work: @escaping @Sendable () -> Void) {}
    func drain() {}
    func shutDown() {}
  }

  private static let renamed = "keyspace 1, its name was used again"

  /// Makes a store in which a keyspace "rows" was dropped, and damages the record of the drop. Then a row was put into
  /// another keyspace, which has this name.
  private func makeStore(at path: String, _ manifested: Manifested, then name: String) throws {
    var options = StoreOptions()
    options.writesCheckpoints = false
    options.compacts = false
    var environment = Environment.system
    // Preparing the next segment would replace the manifest at any time.
    if manifested != .drop { environment.scheduler = IdleScheduler() }
    var store = try Store.open(at: path, options: options, environment: environment)
    try store.put([UInt8]("old"), at: 1, in: store.keyspace("rows"))
    if manifested == .definition {
      // The first write after opening replaces the manifest.
      try store.close()
      store = try Store.open(at: path, options: options, environment: environment)
      try store.put([UInt8]("older"), at: 2, in: store.keyspace("rows"))
    }
    try store.drop(store.keyspace("rows"))
    try store.put([UInt8]("new"), at: 1, in: store.keyspace(name))
    if manifested == .drop { try store.checkpoint() }
    try store.close()

    let log = try LogReader(at: path)
    #expect(log.manifest?.keyspaces.contains { $0.id == 1 } == (manifested == .definition))
    var drops: [(file: String, offset: Int)] = []
    for entry in log.entries {
      let segment = try #require(try log.segment(entry))
      segment.forEachRecord { record, offset in
        if record.header.kind == .keyspaceDropped { drops.append((segment.name, offset)) }
      }
    }
    try #require(drops.count == 1)
    let file = try SystemFileLayer().open("\(path)/\(drops[0].file)", .readWrite)
    defer { file.close() }
    // The record's checksum.
    try file.write(file.bytes(drops[0].offset, 1).map { $0 ^ 0x10 }, at: drops[0].offset)
  }

  /// Each keyspace's rows after salvaging.
  private func salvage(_ manifested: Manifested, then name: String) throws -> (rows: [String: [String]], remarks: Int) {
    var found: [String: [String]] = [:]
    var remarks = 0
    try withTemporaryDirectory { directory in
      try makeStore(at: "\(directory)/damaged", manifested, then: name)
      let report = try Salvage.run(from: "\(directory)/damaged", to: "\(directory)/saved")
      #expect(report.losses.count == 1)
      remarks = report.remarks.count
      #expect(try Verifier(at: "\(directory)/saved").run().findings.isEmpty)
      let store = try Store.openForInspection(at: "\(directory)/saved")
      defer { try? store.close() }
      for keyspace in store.keyspaces { found[keyspace.name] = try store.texts(keyspace) }
    }
    return (found, remarks)
  }

  @Test("A keyspace that the manifest no longer lists is not salvaged.", arguments: ["rows", "others"])
  func unlisted(_ name: String) throws {
    let (rows, remarks) = try salvage(.drop, then: name)
    #expect(rows == [name: ["1=new"]])
    #expect(remarks == 0)
  }

  @Test("Two keyspaces with the same name are both salvaged, the older one under another name.")
  func sameName() throws {
    var (rows, remarks) = try salvage(.nothing, then: "rows")
    #expect(rows == ["rows": ["1=new"], Self.renamed: ["1=old"]])
    #expect(remarks == 1)
    (rows, remarks) = try salvage(.definition, then: "rows")
    #expect(rows == ["rows": ["1=new"], Self.renamed: ["1=old", "2=older"]])
    #expect(remarks == 1)
  }

  @Test("A keyspace is salvaged if nothing says that it was dropped.") func listed() throws {
    #expect(try salvage(.nothing, then: "others").rows == ["rows": ["1=old"], "others": ["1=new"]])
    #expect(
      try salvage(.definition, then: "others").rows == ["rows": ["1=old", "2=older"], "others": ["1=new"]])
  }
}

import CairnInspection
import CairnSimulation
import Testing

@testable import Cairn

/// Inspecting a store while a writer changes it, at every moment that matters.
@Suite struct LiveStoreTests {
  /// A machine with a store whose writer does something at one moment of an inspection.
  private final class Scene {
    let machine = Machine()
    let store: Store
    let rows: Keyspace
    private var round = 0

    init() throws {
      store = try machine.open()
      rows = try store.keyspace("rows")
      for _ in 0..<3 { try live() }
    }

    /// Commits to several segments, removes the present ones by compaction, and writes a checkpoint.
    func live() throws {
      for number in 0..<60 {
        round += 1
        // Random values, so that no two segments are alike, and nothing is compressed.
        var random = SplitMix64(seed: UInt64(round))
        let value = (0..<4000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        try store.put(value, at: .integer(Int64(number % 7)), in: rows, .buffered)
        if round.isMultiple(of: 20) { machine.runBackground() }
      }
      try store.compact()
      try store.checkpoint()
      try store.put([1], at: 100, in: rows)
      machine.runBackground()
    }

    /// Fills a segment with commits, and runs background work, such as compaction.
    func roll() throws {
      for number in 0..<20 {
        try store.put([UInt8](repeating: UInt8(number), count: 3000), at: 1, in: rows, .buffered)
      }
      machine.runBackground()
    }
  }

  /// Calls `look` with files that make `event` happen before the n-th opening of a file, for n = 0, 1, 2 …, until
  /// `look` opens no n-th file.
  private func atEveryMoment(
    _ event: @escaping @Sendable (Scene) throws -> Void = { try $0.live() },
    _ look: (Scene, any FileLayer) throws -> Void
  ) throws {
    for moment in 0..<200 {
      let scene = try Scene()
      let files = WatchedFiles(scene.machine.files)
      let hasHappened = Lock(false)
      let live = Unchecked(scene)
      files.beforeOpening.withLock {
        $0 = { count in
          guard count == moment else { return }
          hasHappened.withLock { $0 = true }
          do { try event(live.value) } catch { Issue.record("\(error)") }
        }
      }
      try look(scene, files)
      if !hasHappened.withLock({ $0 }) { return }
    }
    Issue.record("no end of opening files")
  }

  @Test(arguments: Verifier.Depth.allCases)
  func nothingIsFoundThatIsNotThere(_ depth: Verifier.Depth) throws {
    try atEveryMoment { _, files in
      let verification = try Verifier(at: Machine.path, files: files).run(depth)
      #expect(verification.findings.isEmpty)
    }
  }

  @Test func openingForReadingFindsAStateThatWas() throws {
    try atEveryMoment { scene, files in
      let before = scene.store.lastSequence
      var options = StoreOptions()
      options.access = .readOnly
      var environment = scene.machine.environment(ManualScheduler())
      environment.files = files
      let reader = try Store.open(at: Machine.path, options: options, environment: environment)
      defer { try? reader.close() }
      #expect((before...scene.store.lastSequence).contains(reader.lastSequence))
      #expect(reader.recovery.discarded.isEmpty)
      let rows = try #require(reader.keyspaces.first)
      #expect(try reader.snapshot().count(in: rows) == 8)
    }
  }

  @Test func everyCommitIsFollowed() throws {
    try atEveryMoment({ try $0.roll() }) { scene, files in
      var follower = CommitFollower(at: Machine.path, files: files, after: scene.store.lastSequence)
      var expected = scene.store.lastSequence + 1
      func look() throws {
        try follower.news { news in
          guard case .commit(let commit) = news else {
            Issue.record("\(news)")
            return .next
          }
          #expect(commit.sequence == expected)
          expected = commit.sequence + 1
          return .next
        }
      }
      try look()
      for _ in 0..<3 {
        try scene.roll()
        try look()
      }
      try look()
      #expect(expected == scene.store.lastSequence + 1)
    }
  }

  @Test func whatHasGoneBetweenTwoLooksIsTold() throws {
    let scene = try Scene()
    let start = scene.store.lastSequence
    var follower = CommitFollower(at: Machine.path, files: scene.machine.files, after: start)
    try follower.news { _ in .next }
    for _ in 0..<3 { try scene.live() }
    var missed: [ClosedRange<UInt64>] = []
    var shown: [UInt64] = []
    try follower.news { news in
      switch news {
      case .commit(let commit): shown.append(commit.sequence.rawValue)
      case .missed(let after, let before): missed.append(after.next.rawValue...before.previous.rawValue)
      }
      return .next
    }
    #expect(!missed.isEmpty)
    #expect(
      (missed.flatMap(Array.init) + shown).sorted() == Array(start.next.rawValue...scene.store.lastSequence.rawValue))
  }

  @Test("Changes have the name of their keyspace although the manifest no longer lists the dropped keyspace.")
  func namesOfDroppedKeyspaces() throws {
    let machine = Machine()
    var options = Machine.options
    options.compresses = false
    let store = try machine.open(options)
    let passing = try store.keyspace("passing")
    // The definition is in a segment that is sealed, which a follower from there on does not read.
    var last: CommitSequence = 0
    let value = [UInt8](repeating: 1, count: 3000)
    for number in 0..<50 { last = try store.put(value, at: .integer(Int64(number)), in: passing) }
    machine.runBackground()
    try store.put([2], at: 50, in: passing)
    let dropped = try store.drop(passing)
    // Two checkpoints are listed, and both must be newer than the drop.
    try store.checkpoint()
    let other = try store.put([3], at: 1, in: store.keyspace("other"))
    try store.checkpoint()
    let log = try LogReader(StoreDirectory(Machine.path, files: machine.files))
    #expect(log.manifest?.keyspaces.map(\.name) == ["other"] && log.entries[0].end != nil)
    var follower = CommitFollower(at: Machine.path, files: machine.files, after: last)
    var names: [CommitSequence: [String?]] = [:]
    try follower.news { news in
      guard case .commit(let commit) = news else { return .stop }
      names[commit.sequence] = commit.changes.map(\.keyspace)
      return .next
    }
    #expect(names == [last + 1: ["passing"], dropped: ["passing"], other: ["other", "other"]])
    var records = 0
    for segment in log.entries {
      try LogContents(log).forEach(in: segment.id) { item in
        guard case .record(let record, _) = item else { return .next }
        #expect(record.keyspaceName == (record.sequence < other ? "passing" : "other"))
        records += 1
        return .next
      }
    }
    #expect(records > 3)
  }

  @Test func aFollowerGoesOnWithTheNextWriter() throws {
    let machine = Machine()
    var store = try machine.open()
    var follower = CommitFollower(at: Machine.path, files: machine.files, after: 0)
    var shown: [CommitSequence] = []
    var expected: [CommitSequence] = []
    for life in 0..<4 {
      for number in 0..<30 {
        let value = [UInt8](repeating: UInt8(life), count: 100 * number)
        expected.append(try store.put(value, at: .integer(Int64(number)), in: store.keyspace("rows")))
        if number == 20 {
          try follower.news { news in
            if case .commit(let commit) = news { shown.append(commit.sequence) } else { Issue.record("\(news)") }
            return .next
          }
        }
      }
      try store.close()
      store = try machine.open()
    }
    try follower.news { news in
      if case .commit(let commit) = news { shown.append(commit.sequence) } else { Issue.record("\(news)") }
      return .next
    }
    #expect(shown == expected)
  }
}

private struct Unchecked<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// Files that call a closure before one of them is opened.
private final class WatchedFiles: FileLayer {
  private let files: any FileLayer
  private let count = Lock(0)
  let beforeOpening = Lock<(@Sendable (Int) -> Void)?>(nil)

  init(_ files: any FileLayer) { self.files = files }

  func createDirectory(_ path: String, _ permissions: FilePermissions) throws(FileError) {
    try files.createDirectory(path, permissions)
  }

  func directory(_ path: String) throws(FileError) -> any Directory {
    WatchedDirectory(try files.directory(path), self)
  }

  func noteOpening() {
    let number = count.withLock { count in
      defer { count += 1 }
      return count
    }
    beforeOpening.withLock { $0 }?(number)
  }
}

private final class WatchedDirectory: Directory {
  private let directory: any Directory
  private let files: WatchedFiles

  init(_ directory: any Directory, _ files: WatchedFiles) {
    self.directory = directory
    self.files = files
  }

  func open(_ name: String, _ mode: FileMode) throws(FileError) -> any File {
    files.noteOpening()
    return try directory.open(name, mode)
  }

  var path: String { directory.path }
  var identity: FileIdentity { directory.identity }
  var freeSpace: Int { directory.freeSpace }
  func list() throws(FileError) -> [String] { try directory.list() }
  func rename(_ source: String, to target: String) throws(FileError) { try directory.rename(source, to: target) }
  func link(_ source: String, in other: any Directory, as name: String) throws(FileError) {
    try directory.link(source, in: other, as: name)
  }
  func remove(_ name: String) throws(FileError) { try directory.remove(name) }
  func sync() throws(FileError) { try directory.sync() }
  func checkPresence() throws(FileError) { try directory.checkPresence() }
  func lock(_ name: String, owner: [UInt8]) throws(FileError) -> any FileLock {
    try directory.lock(name, owner: owner)
  }
  func adoptPermissions(of name: String) throws(FileError) { try directory.adoptPermissions(of: name) }
  func usePermissions(_ permissions: FilePermissions) { directory.usePermissions(permissions) }
  func close() { directory.close() }
}

import Cairn
import CairnSimulation
import Synchronization
import Testing

@Suite struct MemoryFileLayerTests {
  private func layer(capacity: Int? = nil) throws -> MemoryFileLayer {
    let layer = MemoryFileLayer(capacity: capacity)
    try layer.createDirectory("/d")
    try layer.syncDirectory("/")
    return layer
  }

  @Test func aCrashTakesWhatWasNotSynced() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    try file.write([1, 2, 3], at: 0)
    try file.sync()
    try layer.syncDirectory("/d")
    try file.write([9], at: 1)
    try file.write([4], at: 1000)
    let crashed = layer.crash()
    #expect(crashed.contents == ["/d/a": [1, 2, 3]])
    #expect(try file.bytes(0, 3) == [1, 9, 3])
    try file.sync()
    #expect(layer.crash().contents == layer.contents)

    // The files that a crash left can be used, and can crash again.
    let again = try crashed.open("/d/a", .readWrite)
    try again.write([7], at: 0)
    #expect(crashed.crash().contents == ["/d/a": [1, 2, 3]])
    try again.sync()
    #expect(crashed.crash().contents == ["/d/a": [7, 2, 3]])
    #expect(try again.bytes(2, 9) == [3])
  }

  @Test func aCrashTakesNamesWhoseDirectoryWasNotSynced() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    try file.write([1], at: 0)
    try file.sync()
    #expect(layer.crash().contents == [:])
    try layer.syncDirectory("/d")
    #expect(layer.crash().contents == ["/d/a": [1]])
    try layer.open("/d/b", .create).close()
    try layer.rename("/d/a", to: "/d/b")
    #expect(layer.crash().contents == ["/d/a": [1]])
    try layer.syncDirectory("/d")
    #expect(layer.crash().contents == ["/d/b": [1]])
    try layer.remove("/d/b")
    file.close()
    #expect(layer.crash().contents == ["/d/b": [1]])
    try layer.syncDirectory("/d")
    #expect(layer.crash().contents == [:])
  }

  @Test func aDirectoryCanBeLostWithAllThatIsInIt() throws {
    let layer = MemoryFileLayer()
    try layer.createDirectory("/d")
    let file = try layer.open("/d/a", .create)
    try file.sync()
    try layer.syncDirectory("/d")
    #expect(try layer.crash().list("/") == [])
    try layer.syncDirectory("/")
    #expect(layer.crash().contents == ["/d/a": []])
  }

  @Test func truncatingIsUndoneByACrashToo() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    try file.write([UInt8](repeating: 5, count: 2000), at: 0)
    try file.sync()
    try layer.syncDirectory("/d")
    try file.truncate(700)
    try file.reserve(900)
    #expect(try file.bytes(699, 3) == [5, 0, 0])
    #expect(layer.crash().contents["/d/a"] == [UInt8](repeating: 5, count: 2000))
    try file.sync()
    #expect(try layer.crash().open("/d/a", .read).bytes(699, 1000) == [5] + [UInt8](repeating: 0, count: 200))
  }

  @Test(arguments: 0..<20 as Range<UInt64>) func aRandomCrashKeepsEachBlockOldNewOrTorn(_ seed: UInt64) throws {
    func run() throws -> [String: [UInt8]] {
      var random = SplitMix64(seed: seed)
      let layer = try layer()
      let file = try layer.open("/d/a", .create)
      try file.write([UInt8](repeating: 1, count: 4096), at: 0)
      try file.sync()
      try layer.syncDirectory("/d")
      try file.write([UInt8](repeating: 2, count: 4096), at: 0)
      try file.reserve(5000)
      try layer.open("/d/new", .create).close()
      try layer.rename("/d/a", to: "/d/b")
      return layer.crash(using: &random).contents
    }
    let found = try run()
    #expect(try found == run())
    let names = found.keys.sorted()
    #expect(names.first == "/d/a" || names.first == "/d/b")
    #expect(names.count == 1 || names == [names[0], "/d/new"])
    let bytes = try #require(found[names[0]])
    #expect(bytes.count == 4096 || bytes.count == 5000)
    #expect(bytes.prefix(4096).allSatisfy { $0 == 1 || $0 == 2 })
    #expect(bytes.dropFirst(4096).allSatisfy { $0 == 0 })
    for block in stride(from: 0, to: 4096, by: 512) {
      #expect((1..<512).count { bytes[block + $0] != bytes[block + $0 - 1] } <= 1)
    }
  }

  @Test func spaceEnds() throws {
    let layer = try layer(capacity: 1000)
    let file = try layer.open("/d/a", .create)
    try file.reserve(600)
    let other = try layer.open("/d/b", .create)
    #expect(cause { try other.reserve(401) } == .noSpace)
    #expect(try other.size() == 0)
    try other.reserve(400)
    #expect(cause { try other.write([1], at: 400) } == .noSpace)
    try other.write([1], at: 399)
    try file.truncate(100)
    try other.reserve(900)
    other.close()
    try layer.remove("/d/b")
    try file.reserve(1000)
    layer.capacity = nil
    try file.reserve(5000)
  }

  @Test func operationsFailWhenTold() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    layer.failNext(.write, after: 1, with: .system(5))
    layer.failNext(.rename, with: .noSpace)
    try file.write([1, 1, 1, 1], at: 0)
    #expect(cause { try file.write([2, 2, 2, 2], at: 0) } == .system(5))
    #expect(try file.bytes(0, 9) == [2, 2, 1, 1])
    try file.write([3], at: 0)
    #expect(cause { try layer.rename("/d/a", to: "/d/b") } == .noSpace)
    #expect(try layer.list("/d") == ["a"])
    #expect(layer.count(of: .write) == 3)
    #expect(layer.count(of: .sync) == 0)
  }

  @Test func whatAFailedSyncLeftBehindStaysLost() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    try layer.syncDirectory("/d")
    try file.write([1], at: 0)
    try file.write([2], at: 600)
    layer.failNext(.sync, with: .system(5))
    #expect(cause { try file.sync() } == .system(5))
    try file.write([3], at: 601)
    try file.sync()
    let found = try #require(layer.crash().contents["/d/a"])
    #expect(found[0] == 0)
    #expect(found[600...] == [2, 3])
  }

  @Test func aSyncDoesNotCoverWhatIsWrittenWhileItRuns() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    try layer.syncDirectory("/d")
    try file.write([1], at: 0)
    layer.gate = { operation, _ in
      if operation == .sync { try? file.write([2, 2], at: 0) }
    }
    try file.sync()
    #expect(layer.contents["/d/a"] == [2, 2])
    #expect(layer.crash().contents["/d/a"] == [1])
    layer.gate = nil
    try file.sync()
    #expect(layer.crash().contents["/d/a"] == [2, 2])
  }

  @Test func theGateSeesEveryOperation() throws {
    let layer = try layer()
    let seen = Lock<[String]>([])
    layer.gate = { operation, path in seen.withLock { $0.append("\(operation.rawValue) \(path)") } }
    let directory = try layer.directory("/d")
    let file = try directory.open("a", .create)
    try file.write([1], at: 0)
    try file.sync()
    try directory.sync()
    #expect(
      seen.withLock { $0 } == ["openDirectory /d", "create /d/a", "write /d/a", "sync /d/a", "syncDirectory /d"])
  }

  @Test func aMappedFileHasRoomToGrowAndAMachineHasNoLocksAfterACrash() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    let mapping = try file.map(4096)
    try file.write([1], at: 100 << 20)
    #expect(unsafe mapping.base.load(fromByteOffset: 100 << 20, as: UInt8.self) == 1)
    #expect(throws: FileError.self) { try file.reserve(1 << 30) }
    let large = try layer.open("/d/b", .create)
    try large.reserve(300 << 20)
    try large.write([7], at: 299 << 20)
    #expect(try large.bytes(299 << 20, 1) == [7])

    _ = try layer.open("/d/LOCK", .create)
    try layer.syncDirectory("/d")
    let lock = try layer.lock("/d/LOCK", owner: [1])
    let crashed = layer.crash()
    try crashed.lock("/d/LOCK", owner: [2]).release()
    #expect(try layer.identity("/d") != crashed.identity("/d"))
    lock.release()
  }

  @Test func everyOutcomeOfACrashHasItsNumber() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    try file.write([UInt8](repeating: 1, count: 1024), at: 0)
    try file.sync()
    try layer.syncDirectory("/d")
    try file.write([UInt8](repeating: 2, count: 1024), at: 0)
    try file.write([3], at: 1024)
    let (kept, tally) = layer.crash(.kept)
    #expect(kept.contents == layer.contents)
    // The length, two overwritten blocks, and a new block.
    #expect(tally.decisions == 4)
    var found: Set<[UInt8]> = []
    for decision in 0..<4 {
      for tears in [false, true] {
        let bytes = try #require(layer.crash(.init(.kept, exceptFor: decision, tears: tears)).files.contents["/d/a"])
        #expect(bytes.count == (decision == 0 ? 1024 : 1025))
        found.insert(bytes)
        if !tears, decision > 0 {
          let block = bytes[512 * (decision - 1)..<min(512 * decision, 1025)]
          #expect(block.allSatisfy { $0 == (decision == 3 ? 0 : 1) })
        }
      }
    }
    #expect(found.count >= 6)
  }

  @Test func writesGoElsewhereOrOnlyInPartAndBitsFlip() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    let other = try layer.open("/d/b", .create)
    try other.write([9, 9, 9], at: 0)
    layer.strikeNext(.write, .goesTo(path: "/d/b", offset: 1), label: "misdirected")
    try file.write([1], at: 0)
    #expect(try file.size() == 0)
    #expect(try other.bytes(0, 3) == [9, 1, 9])
    layer.strikeNext(.write, .writesPart(192, .system(5)), label: "short")
    #expect(cause { try file.write([1, 2, 3, 4], at: 0) } == .system(5))
    #expect(try file.bytes(0, 9) == [1, 2, 3])
    #expect(layer.struck("misdirected") == 1)
    #expect(layer.struck == 2)
    try file.sync()
    try layer.syncDirectory("/d")
    try file.write([7], at: 1)
    try layer.flip(0x80, at: 0, in: "/d/a")
    #expect(layer.contents["/d/a"] == [0x81, 7, 3])
    #expect(layer.crash().contents["/d/a"] == [0x81, 2, 3])
  }

  @Test func whatAKilledProcessHasWrittenIsThereAndCanStillBeLost() throws {
    let layer = try layer()
    let file = try layer.open("/d/a", .create)
    try layer.syncDirectory("/d")
    try file.write([1], at: 0)
    let killed = layer.afterKill()
    try file.write([2], at: 0)
    #expect(killed.contents == ["/d/a": [1]])
    #expect(killed.crash().contents == ["/d/a": []])
    try killed.open("/d/a", .readWrite).sync()
    #expect(killed.crash().contents == ["/d/a": [1]])
  }
}

import CairnSimulation
import Synchronization
import Testing

@testable import Cairn

/// Promise G12: operations that free space work even when there is none left.
@Suite struct ReserveTests {
  private let machine = Machine()

  private static var reservePath: String { "\(Machine.path)/\(Reserve.fileName)" }

  private static func value(_ row: Int64) -> [UInt8] { .noise(1000, seed: UInt64(row)) }

  /// Writes rows until the disk is full; returns the number of the next row.
  private func fill(_ store: Store, from first: Int64 = 0) throws -> Int64 {
    let rows = try store.keyspace("rows")
    var row = first
    while true {
      if let error = failure({ try store.put(Self.value(row), at: .integer(row), in: rows, .buffered) }) {
        #expect(error.code == .noSpace)
        return row
      }
      machine.runBackground()
      row += 1
    }
  }

  private func fullStore(compaction: Bool = true) throws -> (store: Store, count: Int64) {
    var options = Machine.options
    options.compacts = compaction
    let store = try machine.open(options)
    machine.files.capacity = 1_000_000
    let count = try fill(store)
    #expect(count > 400)
    #expect(store.statistics.reservedBytes > 1 << 16)
    return (store, count)
  }

  /// Deletes rows one by one, until a delete has taken space from the reserve; returns how many were deleted.
  private func useUpReserve(of store: Store, _ count: Int64) throws -> Int64 {
    let rows = try store.keyspace("rows")
    let held = store.statistics.reservedBytes
    var deleted: Int64 = 0
    while store.statistics.reservedBytes == held {
      try #require(deleted < count)
      try store.delete(.integer(deleted), in: rows)
      deleted += 1
    }
    return deleted
  }

  @Test("G12: Rows can be deleted when the disk is full, and others can be put afterwards.") func deleting() throws {
    let (store, count) = try fullStore()
    let rows = try store.keyspace("rows")
    for row in 0..<count / 2 {
      try store.delete(.integer(row), in: rows)
      machine.runBackground()
    }
    machine.runBackground()
    let more = try fill(store, from: count)
    #expect(more - count > count / 3)
    #expect(machine.files.used <= 1_000_000)
    for row in 0..<more {
      #expect(try store.get(.integer(row), in: rows) == (row < count / 2 ? nil : Self.value(row)))
    }
    let again = try machine.crash().open()
    #expect(try again.get(.integer(count - 1), in: again.keyspace("rows")) == Self.value(count - 1))
    #expect(try again.get(0, in: again.keyspace("rows")) == nil)
  }

  @Test("G12: Batches that put rows leave the reserve to deletions, however often compaction frees a little.")
  func puttingUntilRefused() throws {
    var options = Machine.options
    options.segmentSize = 16 << 20
    let store = try machine.open(options)
    machine.files.capacity = 6 << 20
    let rows = try store.keyspace("rows")
    var count: Int64 = 0
    var error: StoreError?
    while error == nil {
      error = failure {
        try store.write(durability: .buffered) { batch in
          for row in 0..<50 as Range<Int64> {
            try batch.put(.noise(100, seed: UInt64(row)), at: .integer(count + row), in: rows)
          }
          // The replaced versions can be reclaimed.
          try batch.put(.noise(4000, seed: UInt64(count)), at: "replaced", in: rows)
        }
      }
      machine.runBackground()
      if error == nil { count += 50 }
    }
    #expect(store.statistics.reservedBytes > 1 << 20)
    // A commit that deletes such a row takes more space than the row.
    let deleted: Int64 = 60_000
    for row in 0..<deleted { try store.delete(.integer(row), in: rows, .buffered) }
    #expect(try store.read { try $0.count(in: rows) } == Int(count - deleted) + 1)
  }

  @Test("G12: A batch that puts fewer bytes than it deletes can be committed when the disk is full.")
  func shrinking() throws {
    let (store, count) = try fullStore()
    let rows = try store.keyspace("rows")
    let half = count / 2
    func shorter(_ row: Int64) -> [UInt8] { Array(Self.value(row).dropLast(8)) }
    for row in 0..<half {
      try store.write { batch in
        try batch.delete(.integer(row), in: rows)
        try batch.put(shorter(half + row), at: .integer(half + row), in: rows)
      }
      machine.runBackground()
    }
    let again = try machine.crash().open()
    let present = try again.keyspace("rows")
    for row in 0..<half {
      #expect(try again.get(.integer(row), in: present) == nil)
      #expect(try again.get(.integer(half + row), in: present) == shorter(half + row))
    }
  }

  @Test(
    "G12: A list of members can be shortened on a full disk more often than the reserve has space for.",
    arguments: [false, true], [1 << 16, 16 << 20])
  func shorteningALongRow(_ runsBackground: Bool, _ segmentSize: Int) throws {
    var options = Machine.options
    options.segmentSize = segmentSize
    let store = try machine.open(options)
    machine.files.capacity = 6 << 20
    let rows = try store.keyspace("rows")
    let count: Int64 = 1500
    func list(_ length: Int64) -> [UInt8] { Array([UInt8].noise(6000, seed: 1).suffix(Int(length + 4000))) }
    for row in 0..<count { try store.put(.noise(100, seed: UInt64(row)), at: .integer(row), in: rows, .buffered) }
    try store.put(list(count), at: "list", in: rows)
    _ = try fill(store, from: count)
    machine.runBackground()
    #expect(store.statistics.reservedBytes < 4000 * Int(count))
    for row in 0..<count {
      try store.write(durability: .buffered) { batch in
        try batch.delete(.integer(row), in: rows)
        try batch.put(list(count - row - 1), at: "list", in: rows)
      }
      if runsBackground { machine.runBackground() }
    }
    #expect(try store.get("list", in: rows) == list(0))
    #expect(try store.get(.integer(count - 1), in: rows) == nil)
    #expect(try store.get(.integer(count), in: rows) == Self.value(count))
  }

  @Test(
    "G12: Every row can be replaced by a shorter one on a full disk, in any order.",
    arguments: [(1 << 20, 24 << 20), (16 << 20, 24 << 20), (16 << 20, 5 << 20)])
  func shorteningAllRows(_ segmentSize: Int, _ capacity: Int) throws {
    var options = Machine.options
    options.segmentSize = segmentSize
    let store = try machine.open(options)
    machine.files.capacity = capacity
    let count = try fill(store)
    let rows = try store.keyspace("rows")
    func shorter(_ row: Int64) -> [UInt8] { Array(Self.value(row).dropLast(8)) }
    var random = SplitMix64(seed: 1)
    let order = (0..<count).shuffled(using: &random)
    for first in stride(from: 0, to: order.count, by: 50) {
      try store.write(durability: .buffered) { batch in
        for row in order[first...].prefix(50) { try batch.put(shorter(row), at: .integer(row), in: rows) }
      }
      machine.runBackground()
    }
    for row in stride(from: 0, to: count, by: 7) {
      #expect(try store.get(.integer(row), in: rows) == shorter(row))
    }
  }

  @Test("G12: A reserve that is used up takes whatever space there is, up to a step.")
  func takingTheRest() throws {
    let files = MemoryFileLayer()
    try files.createDirectory("/store")
    let reserve = Reserve(directory: try files.directory("/store"), segmentSize: 1 << 20)
    try reserve.hold(1 << 20)
    _ = failure { () throws(StoreError) in
      try reserve.lend(to: .compaction) { () throws(StoreError) in throw StoreError(.noSpace, "none") }
    }
    #expect(reserve.isSpent.load(ordering: .relaxed) && reserve.bytes.load(ordering: .relaxed) == 0)
    files.capacity = 6 * reserve.step + 1000
    #expect(throws: FileError.self) { try reserve.hold(1 << 20) }
    #expect(reserve.bytes.load(ordering: .relaxed) == 6 * reserve.step)
  }

  @Test("G12: While the reserve is used up, a row can be replaced only by a shorter one.", arguments: [1000, 1001])
  func replacing(_ length: Int) throws {
    let (store, count) = try fullStore(compaction: false)
    let rows = try store.keyspace("rows")
    let row = try useUpReserve(of: store, count)
    func replace(_ length: Int) throws { try store.put(.noise(length), at: .integer(row), in: rows, .buffered) }
    // The last deletion may have allocated more than it needed.
    var refusal: StoreError?
    for _ in 0..<100 where refusal == nil { refusal = failure { try replace(length) } }
    #expect(refusal?.code == .noSpace)
    try replace(999)
    #expect(try store.get(.integer(row), in: rows) == .noise(999))
  }

  @Test("G12: A shorter value frees nothing in a keyspace that retains the longer one.")
  func replacingRetained() throws {
    let (store, count) = try fullStore(compaction: false)
    let rows = try store.keyspace("rows")
    try store.setRetention(.last(1000), of: rows)
    let row = try useUpReserve(of: store, count)
    var refusal: StoreError?
    for length in (900..<1000).reversed() where refusal == nil {
      refusal = failure { try store.put(.noise(length), at: .integer(row), in: rows, .buffered) }
    }
    #expect(refusal?.code == .noSpace)
    try store.delete(.integer(row), in: rows)
  }

  @Test(
    "G12: On a full disk, compaction reclaims the space of segments whose needed records fit into the reserve.",
    arguments: [2, 3, 4, 8], [250_000, 1_000_000])
  func compactingOnRequest(_ keptOneIn: Int64, _ capacity: Int) throws {
    var options = Machine.options
    options.compacts = false
    let store = try machine.open(options)
    machine.files.capacity = capacity
    let count = try fill(store)
    let rows = try store.keyspace("rows")
    for row in 0..<count where row % keptOneIn != 0 { try store.delete(.integer(row), in: rows, .buffered) }
    let before = store.statistics
    let error = failure { try store.compact() }
    #expect(error == nil)
    // If half of each segment is live, little of that fits into the reserve.
    #expect(store.statistics.logBytes < before.logBytes / (keptOneIn == 2 ? 1 : 2))
    for row in 0..<count {
      #expect(try store.get(.integer(row), in: rows) == (row % keptOneIn == 0 ? Self.value(row) : nil))
    }
  }

  @Test("G12: A keyspace can be dropped when the disk is full, and its space is reclaimed.") func dropping() throws {
    let (store, count) = try fullStore()
    try store.drop(store.keyspace("rows"))
    machine.runBackground()
    #expect(try fill(store) > count * 9 / 10)
  }

  @Test("G12: Compaction works on a full disk, also on request.") func compacting() throws {
    let (store, count) = try fullStore(compaction: false)
    let rows = try store.keyspace("rows")
    for row in 0..<count where row % 3 > 0 { try store.delete(.integer(row), in: rows) }
    let report = try store.compact()
    #expect(report.gainedBytes > 1_000_000 / 3)
    #expect(try store.read { try $0.count(in: rows) } == Int((count + 2) / 3))
    try store.put([1], at: "more", in: rows)
    #expect(store.statistics.reservedBytes > 0)
  }

  @Test("A commit that finds no space waits until compaction has reclaimed some.") func waiting() throws {
    let (store, count) = try fullStore()
    let rows = try store.keyspace("rows")
    for row in 0..<count / 2 { try store.delete(.integer(row), in: rows, .buffered) }
    for row in count..<count + 50 { try store.put(Self.value(row), at: .integer(row), in: rows, .buffered) }
    #expect(try store.read { try $0.count(in: rows) } == Int(count - count / 2) + 50)
  }

  @Test("A change of the retention that finds no space waits until compaction has reclaimed some.")
  func retaining() throws {
    let (store, count) = try fullStore()
    let rows = try store.keyspace("rows")
    for row in 0..<count / 2 { try store.delete(.integer(row), in: rows, .buffered) }
    // The commit defines the keyspace, whose name does not fit into the space that the deletions have found.
    let keyspace = try store.keyspace(String(repeating: "k", count: 20_000))
    try store.setRetention(.last(2), of: keyspace)
    for number in 0..<3 as Range<UInt8> { try store.put([number], at: 1, in: keyspace) }
    #expect(try store.history(of: 1, in: keyspace).map(\.value) == [[2], [1]])
  }

  @Test("An asynchronous commit that finds no space waits until compaction has reclaimed some.")
  func waitingAsynchronously() async throws {
    let store = try machine.openThreaded()
    machine.files.capacity = 1_000_000
    let count = try fill(store)
    let rows = try store.keyspace("rows")
    for row in 0..<count / 2 {
      try await store.submit(durability: .buffered) { try $0.delete(.integer(row), in: rows) }
    }
    for row in count..<count + 50 {
      try await store.submit(durability: .buffered) { try $0.put(Self.value(row), at: .integer(row), in: rows) }
    }
    #expect(try store.read { try $0.count(in: rows) } == Int(count - count / 2) + 50)
    try store.close()
  }

  @Test("G12: While the reserve is used up only deletions take space, and reads continue.") func usedUp() throws {
    let (store, count) = try fullStore(compaction: false)
    let rows = try store.keyspace("rows")
    let deleted = try useUpReserve(of: store, count)
    machine.runBackground()
    #expect(failure { try store.put(.noise(20_000), at: "new", in: rows) }?.code == .noSpace)
    #expect(try store.get("new", in: rows) == nil)
    #expect(try store.get(.integer(count - 1), in: rows) == Self.value(count - 1))
    for row in deleted..<count where row % 2 == 0 { try store.delete(.integer(row), in: rows) }

    machine.files.capacity = nil
    try store.put(.noise(20_000), at: "new", in: rows)
    #expect(store.statistics.reservedBytes > 1 << 16)
    #expect(machine.files.contents[Self.reservePath] != nil)
  }

  @Test("G12: While the reserve is used up a put is refused, although there is some free space.")
  func reserveComesFirst() throws {
    let (store, count) = try fullStore(compaction: false)
    let rows = try store.keyspace("rows")
    let held = store.statistics.reservedBytes
    let deleted = try useUpReserve(of: store, count)
    // There is space for a row, but not for what the reserve lacks.
    machine.files.capacity = machine.files.used + 25_000
    #expect(failure { try store.put(.noise(6000), at: "new", in: rows) }?.code == .noSpace)
    #expect(try store.get("new", in: rows) == nil)
    try store.delete(.integer(deleted), in: rows)
    machine.files.capacity = machine.files.used + 200_000
    try store.put(.noise(6000), at: "new", in: rows)
    #expect(store.statistics.reservedBytes >= held)
  }

  @Test("G12: Rows can be deleted from a store that is opened on a full disk.") func reopening() throws {
    let (store, count) = try fullStore()
    try store.close()
    machine.files.capacity = machine.files.used
    let again = try machine.open()
    let rows = try again.keyspace("rows")
    for row in 0..<count { try again.delete(.integer(row), in: rows, .buffered) }
    machine.runBackground()
    #expect(try fill(again) > count / 2)
  }

  @Test("A small store has no reserve, and a closed store only a small one.")
  func aSmallStoreHoldsNoSpaceAndAClosedOneLittle() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    try store.put([1], at: 0, in: rows)
    machine.runBackground()
    #expect(machine.files.contents[Self.reservePath] == nil)
    for row in 1..<500 as Range<Int64> { try store.put(Self.value(row), at: .integer(row), in: rows, .buffered) }
    machine.runBackground()
    let held = store.statistics.reservedBytes
    #expect(held == machine.files.contents[Self.reservePath]?.count)
    #expect(held <= 3 << 16)
    try store.close()
    #expect(machine.files.contents[Self.reservePath]?.count == 17 << 12)
  }

  @Test("A commit that finds no space gives up the checkpoint that is being written, which could not be used.")
  func checkpointGivenUp() throws {
    let store = try machine.open()
    let rows = try store.keyspace("rows")
    for _ in 0..<2 {
      for row in 0..<200 as Range<Int64> { try store.put(Self.value(row), at: .integer(row), in: rows, .buffered) }
    }
    while !machine.contents.keys.contains(where: { $0.hasSuffix(".checkpoint") }) {
      try #require(machine.runOneInBackground())
    }
    machine.files.capacity = machine.files.used
    var row: Int64 = 0
    while store.statistics.compactedBytes == 0 {
      try #require(row < 200)
      try store.put(Self.value(row), at: .integer(row), in: rows, .buffered)
      row += 1
    }
    machine.files.capacity = nil
    machine.runBackground()
    try store.close()
    let again = try machine.open()
    #expect(again.recovery.ignoredCheckpoints.isEmpty)
    for row in 0..<200 as Range<Int64> {
      #expect(try again.get(.integer(row), in: again.keyspace("rows")) == Self.value(row))
    }
  }

  /// Compaction failed before it wrote anything, and began the same again for ever: the segment's figures did not count
  /// the definition of the keyspace.
  @Test("A commit fails on a disk that has no space for the first segment of a process, whatever could be compacted.")
  func noSpaceToBegin() throws {
    let machine = Machine()
    var options = Machine.options
    options.compacts = false
    var store = try machine.open(options)
    for _ in 0..<4 {
      for key in 0..<60 as Range<Int64> {
        try store.put(.noise(900), at: .integer(key), in: store.keyspace("rows"), .buffered)
      }
    }
    machine.runBackground()
    try store.close()
    let reserve = "\(Machine.path)/\(Reserve.fileName)"
    if machine.contents.keys.contains(reserve) { try machine.files.remove(reserve) }
    store = try machine.open()
    machine.files.capacity = machine.files.used
    #expect(failure { try store.put([1], at: 100, in: store.keyspace("rows")) }?.code == .noSpace)
    machine.files.capacity = nil
    try store.put([1], at: 100, in: store.keyspace("rows"))
  }
}

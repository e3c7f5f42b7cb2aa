import Cairn
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The path of a real file system of a few megabytes, which `Tests/Scripts/DiskFull/test.sh` mounts.
private let smallDisk = unsafe getenv("CAIRN_SMALL_DISK").map { unsafe String(cString: $0) }

@Suite(.enabled(if: smallDisk != nil), .serialized) struct SmallDiskTests {
  @Test("G12: Rows can be deleted from a full disk, before and after reopening, and their space is reclaimed.")
  func deleting() throws {
    let disk = try #require(smallDisk)
    let files = SystemFileLayer()
    let path = "\(disk)/deleting"
    var options = StoreOptions()
    options.segmentSize = 1 << 20
    var first: Int64 = 0
    var next: Int64 = 0
    for _ in 0..<3 {
      next = try fillStore(path, options, from: next)
      fillUp(files, "\(disk)/filler")
      let again = try Store.open(at: path, options: options)
      let present = try again.keyspace("rows")
      let middle = first + (next - first) / 2
      for row in first..<middle { try again.delete(.integer(row), in: present, .buffered) }
      try again.sync()
      let report = try again.compact()
      #expect(again.statistics.logBytes <= again.statistics.liveBytes * 12 / 10 + 2 << 20, "\(report)")
      for row in first..<next {
        #expect(try again.get(.integer(row), in: present) == (row < middle ? nil : .noise(1000, seed: UInt64(row))))
      }
      try again.close()
      first = middle
      try files.remove("\(disk)/filler")
    }
    for name in try files.list(path) { try files.remove("\(path)/\(name)") }
  }

  /// Puts rows until there is no space; returns the number of the next one. Closes the store, and with it its mappings.
  private func fillStore(_ path: String, _ options: StoreOptions, from first: Int64) throws -> Int64 {
    let store = try Store.open(at: path, options: options)
    defer { try? store.close() }
    let rows = try store.keyspace("rows")
    var next = first
    while failure({ try store.put(.noise(1000, seed: UInt64(next)), at: .integer(next), in: rows, .buffered) }) == nil {
      next += 1
    }
    return next
  }

  /// Takes all remaining space.
  private func fillUp(_ files: SystemFileLayer, _ path: String) {
    guard let filler = try? files.open(path, .create) else { return }
    defer { filler.close() }
    var size = 0
    var step = 1 << 20
    while step >= 1 << 12 {
      if (try? filler.reserve(size + step)) != nil { size += step } else { step /= 2 }
    }
  }

  @Test(
    "D11: A full disk refuses a write and loses nothing; once there is space, writes continue.",
    arguments: [300, 200_000])
  func full(_ size: Int) throws {
    let disk = try #require(smallDisk)
    let files = SystemFileLayer()
    let filler = try files.open("\(disk)/filler", .create)
    try filler.reserve(4 << 20)
    filler.close()
    let path = "\(disk)/store-\(size)"
    var options = StoreOptions()
    options.segmentSize = 1 << 20
    let store = try Store.open(at: path, options: options)
    let rows = try store.keyspace("rows")

    var count: Int64 = 0
    var refusal: StoreError?
    while refusal == nil {
      refusal = failure {
        try store.put(
          .noise(size, seed: UInt64(count)), at: .integer(count), in: rows, count % 64 == 0 ? .durable : .buffered)
      }
      if refusal == nil { count += 1 }
    }
    #expect(refusal?.code == .noSpace)
    let checkpoint = failure { try store.checkpoint() }
    #expect(checkpoint == nil || checkpoint?.code == .noSpace)
    #expect(try store.snapshot().count(in: rows) == Int(count))
    #expect(try store.get(.integer(count - 1), in: rows) == .noise(size, seed: UInt64(count - 1)))
    #expect(try store.get(.integer(count), in: rows) == nil)

    try files.remove("\(disk)/filler")
    for more in count..<count + 5 { try store.put(.noise(size, seed: UInt64(more)), at: .integer(more), in: rows) }
    try store.close()
    let again = try Store.open(at: path, options: options)
    for number in 0..<count + 5 {
      #expect(try again.get(.integer(number), in: again.keyspace("rows")) == .noise(size, seed: UInt64(number)))
    }
    try again.close()
    for name in try files.list(path) { try files.remove("\(path)/\(name)") }
  }
}

import Cairn
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// On a real file system of a few megabytes, which `Tests/DiskFull/test.sh` mounts.
private let smallDisk = unsafe getenv("CAIRN_SMALL_DISK").map { unsafe String(cString: $0) }

@Suite(.enabled(if: smallDisk != nil), .serialized) struct SmallDiskTests {
  @Test(
    "rule 15: a full disk refuses a write and loses nothing; with space again all goes on", arguments: [300, 200_000])
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
    store.close()
    let again = try Store.open(at: path, options: options)
    for number in 0..<count + 5 {
      #expect(try again.get(.integer(number), in: again.keyspace("rows")) == .noise(size, seed: UInt64(number)))
    }
    again.close()
    for name in try files.list(path) { try files.remove("\(path)/\(name)") }
  }
}

import CairnInspection
import Testing

@testable import Cairn

#if os(Linux)
  import Glibc

  /// Processes to which the system gives no more memory.
  @Suite struct MemoryLimitTests {
    @Test("D26: A batch for which the indexes have no memory is refused; the store is not poisoned and loses nothing.")
    func indexes() async {
      await #expect(processExitsWith: .success) {
        try withTemporaryDirectory { directory in
          var options = StoreOptions()
          options.segmentSize = 1 << 20
          options.compresses = false
          let store = try Store.open(at: "\(directory)/store", options: options)
          let rows = try store.keyspace("rows")
          let heap = try store.keyspace("heap", order: .unordered)
          let held = store.snapshot()
          var acknowledged: Int64 = 0
          func put(_ count: Int64) throws {
            try store.write(durability: .buffered) { batch in
              for number in acknowledged..<acknowledged + count {
                try batch.put([1], at: .integer(number * 7919 % 1_000_003), in: rows)
                try batch.put([1], at: .integer(number * 7919 % 1_000_003), in: heap)
                // Under the snapshot, each of these puts adds a version.
                try batch.put([2], at: .integer(number % 1000), in: rows)
              }
            }
            acknowledged += count
          }
          try put(100)
          let allowed = limitAddressSpace(to: addressSpace() + 48 << 20)
          var refused = 0
          while refused < 3 {
            for count in [500, 20, 1] as [Int64] {
              if let error = failure({ try put(count) }) {
                demand(error.code == .noMemory, "\(error)")
                demand(!store.isPoisoned, "poisoned")
                refused += 1
              }
            }
            demand(acknowledged < 3_000_000, "no limit")
          }
          limitAddressSpace(to: allowed)
          try put(200)
          held.close()
          let count = Int(acknowledged)
          demand(try store.read { try $0.count(in: heap) } == count, "\(count) rows")
          demand(try store.read { try $0.count(.all, in: heap) } == count, "\(count) rows walked")
          try store.close()
          demand(try Verifier(at: "\(directory)/store").run().damage.isEmpty, "damage")
        }
      }
    }

    @Test("D26: Putting a value without enough memory is refused, and succeeds once there is memory.") func values()
      async
    {
      await #expect(processExitsWith: .success) {
        try withTemporaryDirectory { directory in
          let store = try Store.open(at: "\(directory)/store")
          let rows = try store.keyspace("rows")
          let value = [UInt8](repeating: 7, count: 96 << 20)
          try store.put([1], at: 1, in: rows)
          let allowed = limitAddressSpace(to: addressSpace() + 64 << 20)
          let error = failure { try store.put(value, at: 1, in: rows) }
          demand(error?.code == .noMemory, "\(error.map { "\($0)" } ?? "none")")
          try store.put([1], at: 2, in: rows)
          limitAddressSpace(to: allowed)
          try store.put(value, at: 1, in: rows)
          demand(try store.get(1, in: rows) == value, "another value")
          try store.close()
        }
      }
    }

    @Test("The memory of a large batch is freed after its commit.") func largeBatches() async {
      await #expect(processExitsWith: .success) {
        try withTemporaryDirectory { directory in
          let store = try Store.open(at: "\(directory)/store")
          let rows = try store.keyspace("rows")
          try store.put([1], at: 1, in: rows)
          let before = residentBytes()
          try store.write { batch in
            for _ in 0..<1_000_000 { try batch.check(1, in: rows, .present) }
          }
          let kept = residentBytes() - before
          demand(kept < 80 << 20, "\(kept) bytes are kept")
          try store.close()
        }
      }
    }

    @Test("D26: Opening and compaction without enough memory are refused, and succeed once there is memory.")
    func maintenance() async {
      await #expect(processExitsWith: .success) {
        try withTemporaryDirectory { directory in
          let path = "\(directory)/store"
          var options = StoreOptions()
          options.compacts = false
          options.compresses = false
          var store = try Store.open(at: path, options: options)
          var rows = try store.keyspace("rows")
          let count = 500_000
          try store.write(durability: .buffered) { batch in
            for number in 0..<count { try batch.put([1], at: .integer(Int64(number)), in: rows) }
          }
          // So that the second compaction need not begin another segment before it begins with the rows.
          try store.compact(.everything)
          var allowed = limitAddressSpace(to: addressSpace() + 8 << 20)
          demand(failure { try store.compact(.everything) }?.code == .noMemory, "compacted")
          limitAddressSpace(to: allowed)
          demand(!store.isPoisoned, "poisoned")
          demand(try store.compact(.everything).segments > 0, "not compacted")
          try store.checkpoint()
          try store.close()

          allowed = limitAddressSpace(to: addressSpace() + 64 << 20)
          demand(failure { _ = try Store.open(at: path, options: options) }?.code == .noMemory, "opened")
          limitAddressSpace(to: allowed)
          store = try Store.open(at: path, options: options)
          demand(store.recovery.checkpoint != nil, "no checkpoint")
          rows = try store.keyspace("rows")
          demand(try store.read { try $0.count(in: rows) } == count, "not all rows")
          try store.close()
        }
      }
    }
  }

  /// The address space of the process in bytes.
  private func addressSpace() -> Int {
    let text = try? SystemFileLayer().directory("/proc/self").open("statm", .read).bytes(100)
    let pages = text.flatMap { Int(String(decoding: $0, as: UTF8.self).split(separator: " ")[0]) } ?? 0
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }

  /// Returns the previous limit in bytes.
  @discardableResult private func limitAddressSpace(to bytes: Int) -> Int {
    var limit = rlimit()
    let kind = __rlimit_resource_t(RLIMIT_AS.rawValue)
    unsafe getrlimit(kind, &limit)
    let allowed = limit.rlim_cur
    limit.rlim_cur = bytes < 0 ? limit.rlim_max : rlim_t(bytes)
    demand(unsafe setrlimit(kind, &limit) == 0, "no limit")
    return Int(truncatingIfNeeded: allowed)
  }
#endif

import Cairn
import Testing

/// On the real file system. Called a model test for its weight: it belongs to the optimised run.
@Suite struct LargeValueModelTests {
  private static let count: Int = {
    #if DEBUG
      8 << 20
    #else
      256 << 20
    #endif
  }()

  @Test("a value of 256 MiB comes back, also after reopening", arguments: [false, true])
  func comesBack(_ compresses: Bool) throws {
    try withTemporaryDirectory { directory in
      let value = compresses ? [UInt8](repeating: 9, count: Self.count + 5) : .noise(Self.count + 5)
      var store = try Store.open(at: "\(directory)/store")
      for number in 0..<3 {
        let rows = try store.keyspace("rows")
        if number == 0 {
          try store.write { batch in
            try batch.put("before", at: 1, in: rows)
            try batch.put(value, at: 2, in: rows)
            try batch.put("behind", at: 3, in: rows)
          }
          #expect(compresses == (store.statistics.logBytes < Self.count / 50))
        }
        #expect(try store.get(1, in: rows) == [UInt8]("before"))
        #expect(try store.get(2, in: rows) == value)
        let isSame = try store.withValue(2, in: rows) { found in
          unsafe found.withUnsafeBytes { unsafe $0.elementsEqual(value) }
        }
        #expect(isSame == true)
        #expect(try store.get(3, in: rows) == [UInt8]("behind"))
        try store.put("later", at: .integer(Int64(number) + 10), in: rows)
        store.close()
        store = try Store.open(at: "\(directory)/store")
        #expect(store.recovery.discardedBytes == 0)
      }
    }
  }
}

extension Store {
  fileprivate func put(_ text: String, at reference: Reference, in keyspace: Keyspace) throws {
    try put([UInt8](text), at: reference, in: keyspace)
  }
}

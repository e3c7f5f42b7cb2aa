import CairnInspection
import CairnSimulation

@testable import Cairn

/// Makes the stores under Tests/Data/Damaged anew, in memory.
enum DamagedStores {
  static let names = [
    "flipped-compacted-record", "flipped-header", "flipped-manifest", "flipped-record", "missing-segment",
    "newer-format", "not-a-store", "torn-tail", "zero-length-segment",
  ]

  static func make(_ name: String) throws -> Fixtures.Files {
    var files = try sound()
    switch name {
    case "torn-tail": files[open]? += try tail().prefix(56)
    case "flipped-record": flip(&files, sealed, SegmentHeader.size + FrameHeader.size + 14)
    case "flipped-compacted-record": flip(&files, compacted, SegmentHeader.size + FrameHeader.size + 76)
    case "flipped-header": flip(&files, sealed, 60)
    case "flipped-manifest": flip(&files, ManifestFile.name, 90)
    case "missing-segment": files[sealed] = nil
    case "zero-length-segment": files[sealed] = []
    case "newer-format": files[ManifestFile.name]?[8] = 2
    default: files = ["letter.txt": Array("Dear Sir or Madam\n".utf8)]
    }
    return files
  }

  static let compacted = "0000000005.segment"
  static let sealed = "0000000007.segment"
  static let open = "0000000009.segment"

  private static func flip(_ files: inout Fixtures.Files, _ name: String, _ offset: Int) {
    files[name]?[offset] ^= 0x10
  }

  /// The undamaged store: a segment that compaction wrote, a sealed segment and an open one; one keyspace keeps two
  /// versions.
  static func sound() throws -> Fixtures.Files { try write().files }

  /// The frame of the commit that comes next.
  private static func tail() throws -> [UInt8] { try write().tail }

  private static func write() throws -> (files: Fixtures.Files, tail: [UInt8]) {
    let machine = try FixtureMachine(random: [0x0DD5_0000_0000_0001, 0x0DD5_0000_0000_0002, 13])
    func write(_ body: (Store, Keyspace, Keyspace) throws -> Void) throws {
      let store = try machine.open()
      let customers = try store.keyspace("customers")
      try body(store, customers, try store.keyspace("orders", order: .unordered))
      try store.close()
    }
    func put(_ name: String, _ batch: inout Batch, _ customers: Keyspace, _ number: Int64) throws {
      try batch.put(name, at: .integer(number), in: customers)
    }
    try write { store, customers, orders in
      try store.setRetention(.last(2), of: customers)
      try store.write { batch in
        for (number, name) in ["Ada", "Bea", "Cid", "Dan", "Eve", "Flo"].enumerated() {
          try put(name, &batch, customers, Int64(number + 1))
          try batch.put("\(name)'s first order", at: [.integer(Int64(number + 1)), 1], in: orders)
        }
      }
    }
    try write { store, customers, orders in
      try store.write { batch in
        try put("Bea B.", &batch, customers, 2)
        try batch.delete(.integer(4), in: customers)
        try batch.delete([4, 1], in: orders)
      }
      try store.compact(.everything)
    }
    try write { store, customers, orders in
      try store.write { batch in
        try put("Cid C.", &batch, customers, 3)
        try batch.put("Cid's second order", at: [3, 2], in: orders)
      }
      try store.write { batch in try put("Gus", &batch, customers, 7) }
    }
    var (files, tail): (Fixtures.Files, [UInt8]) = ([:], [])
    try write { store, customers, _ in
      try store.write { batch in try put("Hal", &batch, customers, 8) }
      // The files as a killed process would leave them.
      files = machine.files()
      try store.write { batch in try put("Ida", &batch, customers, 9) }
      tail = Array(machine.files()[open, default: []].dropFirst(files[open]?.count ?? 0))
    }
    return (files, tail)
  }
}

import IncrementalStore

/// Tables of objects, with the lowest numbers and with one that takes several bytes.
let objectTables: [UInt32] = [1, 2, 70_000]

/// Tables of the incremental store itself, which have numbers and strings as references besides.
let ownTables: [UInt32] = [0, .max - 3, .max - 2, .max - 1, .max]

extension RowReferenceKind {
  /// A reference for each number, in the order of the numbers.
  func reference(_ number: Int) -> RowReference {
    switch self {
    case .integer: .integer(Int64(number))
    case .string: .string("row \(1_000_000 + number)")
    case .uuid: .uuid(UInt128(number))
    }
  }

  /// References that are hard to keep apart or in order.
  var samples: [RowReference] {
    switch self {
    case .integer:
      let numbers: [Int64] = [
        1, 127, 128, 255, 256, 65_535, 65_536, 1 << 31, 1 << 32, 1 << 53, (1 << 53) + 1, .max - 1,
      ]
      return ([0, .max, .min] + numbers + numbers.map { -$0 }).map { .integer($0) }
    case .string:
      let texts = [
        "", " ", "0", "10", "9", "A", "a", "ab", "a\u{0}", "a\u{0}b", "\u{0}", "\u{0}\u{0}", "\u{1}", "'\"\\%_;", "a b",
        "é", "z", "Ω", "\u{7FF}", "\u{800}", "\u{FFFD}", "😀", "👩‍👩‍👧", "\u{10FFFF}",
      ]
      let long = String(repeating: "long", count: 250)
      return (texts + [long, long.dropLast() + "f", String(long.dropLast())]).map { .string($0) }
    case .uuid:
      let numbers: [UInt128] = [0, 1, 255, 256, 1 << 63, 1 << 64, 1 << 127, (1 << 127) - 1, .max - 1, .max]
      return (numbers + [0x0123_4567_89AB_4DEF_8123_4567_89AB_CDEF]).map { .uuid($0) }
    }
  }
}

/// References for table 0: those that the store may use itself are left out.
let ownSamples: [RowReference] =
  (RowReferenceKind.integer.samples + RowReferenceKind.string.samples).filter {
    !($0 >= .integer(1) && $0 < .integer(1000))
  }

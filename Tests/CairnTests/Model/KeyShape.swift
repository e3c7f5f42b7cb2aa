import Cairn

/// Shapes of the keys of a random program. Each is difficult for an index that stores no keys.
enum KeyShape: CaseIterable {
  case random
  case sequential
  case sharedPrefix
  case longSharedPrefix
  case zeros
  case tuples

  func key(_ number: Int) -> Key {
    let mixed = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
    switch self {
    case .random: return unsafe .bytes(withUnsafeBytes(of: mixed.bigEndian) { unsafe Array($0) })
    case .sequential: return .integer(Int64(number))
    case .sharedPrefix:
      return .string(String(repeating: "shared prefix ", count: 8) + String(mixed % 100_000) + " \(number)")
    case .longSharedPrefix:
      return unsafe .bytes(
        [UInt8](repeating: 7, count: 300) + withUnsafeBytes(of: mixed.bigEndian) { unsafe Array($0) })
    case .zeros: return .bytes(Array("z".utf8) + [UInt8](repeating: 0, count: number))
    case .tuples: return [.integer(Int64(number % 7)), .string("name \(number / 7 % 5)"), .integer(Int64(number))]
    }
  }
}

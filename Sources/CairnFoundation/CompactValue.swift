/// A value of CBOR, RFC 8949: what ``CompactEncoder`` writes and ``CompactDecoder`` reads.
indirect enum CompactValue: Equatable {
  case unsigned(UInt64)
  /// The number −1 − n.
  case negative(UInt64)
  case bytes([UInt8])
  case text(String)
  case array([CompactValue])
  case map([(key: CompactValue, value: CompactValue)])
  case bool(Bool)
  case null
  case float(Float)
  case double(Double)

  static func == (left: CompactValue, right: CompactValue) -> Bool {
    switch (left, right) {
    case (.unsigned(let left), .unsigned(let right)): left == right
    case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
    default: left.encoded == right.encoded
    }
  }

  init(_ number: some BinaryInteger) {
    self = number < 0 ? .negative(UInt64(-1 - Int64(number))) : .unsigned(UInt64(number))
  }

  // MARK: Writing

  var encoded: [UInt8] {
    var output: [UInt8] = []
    append(to: &output)
    return output
  }

  private func append(to output: inout [UInt8]) {
    switch self {
    case .unsigned(let number): Self.append(0, number, to: &output)
    case .negative(let number): Self.append(1, number, to: &output)
    case .bytes(let bytes):
      Self.append(2, UInt64(bytes.count), to: &output)
      output += bytes
    case .text(let text):
      Self.append(3, UInt64(text.utf8.count), to: &output)
      output += text.utf8
    case .array(let elements):
      Self.append(4, UInt64(elements.count), to: &output)
      for element in elements { element.append(to: &output) }
    case .map(let pairs):
      Self.append(5, UInt64(pairs.count), to: &output)
      for (key, value) in pairs {
        key.append(to: &output)
        value.append(to: &output)
      }
    case .bool(let value): output.append(value ? 0xF5 : 0xF4)
    case .null: output.append(0xF6)
    case .float(let value): Self.append(0xFA, bits: UInt64(value.bitPattern), count: 4, to: &output)
    case .double(let value): Self.append(0xFB, bits: value.bitPattern, count: 8, to: &output)
    }
  }

  private static func append(_ kind: UInt8, _ number: UInt64, to output: inout [UInt8]) {
    let kind = kind << 5
    switch number {
    case 0..<24: output.append(kind | UInt8(number))
    case 24...0xFF: append(kind | 24, bits: number, count: 1, to: &output)
    case 0x100...0xFFFF: append(kind | 25, bits: number, count: 2, to: &output)
    case 0x1_0000...0xFFFF_FFFF: append(kind | 26, bits: number, count: 4, to: &output)
    default: append(kind | 27, bits: number, count: 8, to: &output)
    }
  }

  private static func append(_ head: UInt8, bits: UInt64, count: Int, to output: inout [UInt8]) {
    output.append(head)
    for index in (0..<count).reversed() { output.append(UInt8(truncatingIfNeeded: bits >> (8 * index))) }
  }

  // MARK: Reading

  /// What is wrong with bytes that are not a value, and where.
  struct Malformed: Error {
    let reason: String
    let position: Int
  }

  private static let mostNesting = 64

  /// Reads a value that extends to the end of the bytes.
  init(_ bytes: [UInt8]) throws(Malformed) {
    var reader = Reader(bytes: bytes)
    self = try reader.value(depth: 0)
    guard reader.position == bytes.count else { throw reader.malformed("the value goes on after its end") }
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    func malformed(_ reason: String) -> Malformed { Malformed(reason: reason, position: position) }

    mutating func bits(_ count: Int) throws(Malformed) -> UInt64 {
      guard bytes.count - position >= count else { throw malformed("the value is cut off") }
      defer { position += count }
      return bytes[position..<position + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    mutating func value(depth: Int) throws(Malformed) -> CompactValue {
      guard depth <= CompactValue.mostNesting else { throw malformed("values are nested too deep") }
      let head = UInt8(try bits(1))
      switch head {
      case 0xF4: return .bool(false)
      case 0xF5: return .bool(true)
      case 0xF6: return .null
      case 0xFA: return .float(Float(bitPattern: UInt32(try bits(4))))
      case 0xFB: return .double(Double(bitPattern: try bits(8)))
      default: break
      }
      let number: UInt64
      switch head & 31 {
      case 0..<24: number = UInt64(head & 31)
      case 24: number = try bits(1)
      case 25: number = try bits(2)
      case 26: number = try bits(4)
      case 27: number = try bits(8)
      default: throw malformed("\(head) begins no value")
      }
      switch head >> 5 {
      case 0: return .unsigned(number)
      case 1: return .negative(number)
      case 2: return .bytes(try content(number))
      case 3:
        guard let text = String(validating: try content(number), as: UTF8.self) else {
          throw malformed("a text is not UTF-8")
        }
        return .text(text)
      case 4:
        var elements: [CompactValue] = []
        for _ in 0..<(try count(number, bytesEach: 1)) { elements.append(try value(depth: depth + 1)) }
        return .array(elements)
      case 5:
        var pairs: [(key: CompactValue, value: CompactValue)] = []
        for _ in 0..<(try count(number, bytesEach: 2)) {
          let key = try value(depth: depth + 1)
          pairs.append((key, try value(depth: depth + 1)))
        }
        return .map(pairs)
      default: throw malformed("\(head) begins no value that is used here")
      }
    }

    /// A number of elements that the rest of the bytes can have.
    private func count(_ number: UInt64, bytesEach: Int) throws(Malformed) -> Int {
      guard number <= UInt64((bytes.count - position) / bytesEach) else { throw malformed("the value is cut off") }
      return Int(number)
    }

    private mutating func content(_ number: UInt64) throws(Malformed) -> [UInt8] {
      let count = try count(number, bytesEach: 1)
      defer { position += count }
      return [UInt8](bytes[position..<position + count])
    }
  }
}

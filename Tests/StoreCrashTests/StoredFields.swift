/// The row of an object as it is stored.
struct StoredFields {
  enum Value: Equatable {
    case null
    case number(Int64)
    case text(String)
    case object(StoredObject)
  }

  /// The values, by property number.
  private(set) var fields: [Int: Value] = [:]
  /// The bytes of each number and text, by property number: the type, then the value as in the row.
  private(set) var bytes: [Int: [UInt8]] = [:]

  init(_ row: [UInt8]) throws {
    var input = ByteReader(row)
    try require(try input.byte() == 1, "a row has another format")
    var number = 0
    while !input.isAtEnd {
      let head = try input.varint()
      try require(head >> 4 > 0, "the numbers of fields do not rise")
      number += head >> 4
      switch head & 15 {
      case 0:
        fields[number] = .null
      case 3:
        let value = try input.varint()
        fields[number] = .number(value.isMultiple(of: 2) ? Int64(value / 2) : -Int64((value + 1) / 2))
        bytes[number] = [3] + Self.varint(value)
      case 6:
        let text = try input.text()
        fields[number] = .text(text)
        bytes[number] = [6] + Self.varint(text.utf8.count) + Array(text.utf8)
      case 12:
        var object = ByteReader(try input.counted())
        fields[number] = .object(try object.object())
        try require(object.isAtEnd, "a reference to an object has more after it")
      case let type: throw CrashFailure("a field has the type \(type)")
      }
    }
  }

  /// The key of the row in an index of these properties.
  func sortedKey(of properties: [Int]) -> [UInt8] {
    var key: [UInt8] = []
    for property in properties {
      switch fields[property] ?? .null {
      case .null: key.append(1)
      case .number(let number): key += [3] + Self.bigEndian(UInt64(bitPattern: number) ^ 1 << 63, 8)
      case .object(let object): key += [10] + object.bytes
      case .text(let text):
        key += [5] + text.utf8.prefix(40).flatMap { $0 == 0 ? [0, 0xFF] : [$0] }
        guard text.utf8.count <= 40 else { return key + [0, 1] }
        key += [0, 0]
      }
    }
    return key
  }

  fileprivate static func bigEndian(_ number: UInt64, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
  }

  static func varint(_ value: Int) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
  }
}

extension StoredObject {
  /// As entries have it.
  var bytes: [UInt8] {
    let number = UInt64(reference)
    let count = (64 - number.leadingZeroBitCount + 7) / 8
    return StoredFields.varint(entity) + [UInt8(0x20 + count)] + StoredFields.bigEndian(number, count)
  }
}

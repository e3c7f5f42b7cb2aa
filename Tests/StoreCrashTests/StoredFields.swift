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
        bytes[number] = [3] + varint(value)
      case 6:
        let text = try input.text()
        fields[number] = .text(text)
        bytes[number] = [6] + varint(text.utf8.count) + Array(text.utf8)
      case 12:
        var object = ByteReader(try input.counted())
        fields[number] = .object(try object.object())
        try require(object.isAtEnd, "a reference to an object has more after it")
      case let type: throw CrashFailure("a field has the type \(type)")
      }
    }
  }

  private func varint(_ value: Int) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
  }
}

/// Checks that bytes are a binary property list before Foundation's reader gets them: on Linux, that reader trusts its
/// input.
package enum BinaryPropertyList {
  private static let deepest = 32
  private static let trailerLength = 32

  /// - Throws: If the list contains anything but dictionaries with texts as keys, arrays, texts, numbers, Booleans,
  ///   dates and data.
  package static func check(_ bytes: [UInt8]) throws(RowDamage) {
    guard bytes.starts(with: "bplist00".utf8), bytes.count >= 8 + trailerLength else {
      throw RowDamage("it is not a property list", at: 0)
    }
    var walk = try PropertyListWalk(bytes, trailer: bytes.count - trailerLength)
    try walk.visit(walk.top, depth: deepest)
  }

  /// The text under a key of the outermost dictionary; nil if there is none.
  package static func text(_ key: String, in bytes: [UInt8]) throws(RowDamage) -> String? {
    try check(bytes)
    return try PropertyListWalk(bytes, trailer: bytes.count - trailerLength).text(key)
  }
}

private struct PropertyListWalk {
  let top: Int
  private let bytes: [UInt8]
  private let offsets: Int
  private let count: Int
  private let offsetSize: Int
  private let referenceSize: Int
  /// The number of visits that are still allowed. Several objects may contain the same object, so that few bytes could
  /// otherwise stand for very many objects.
  private var left = 100_000

  init(_ bytes: [UInt8], trailer: Int) throws(RowDamage) {
    self.bytes = bytes
    offsetSize = Int(bytes[trailer + 6])
    referenceSize = Int(bytes[trailer + 7])
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize) else {
      throw RowDamage("its offsets have \(offsetSize) bytes, its references \(referenceSize)", at: trailer + 6)
    }
    func number(_ place: Int) -> Int? {
      Int(exactly: bytes[trailer + place..<trailer + place + 8].reduce(0 as UInt64) { $0 << 8 | UInt64($1) })
    }
    guard let count = number(8), let top = number(16), let offsets = number(24), (8...trailer).contains(offsets),
      count <= (trailer - offsets) / offsetSize, (0..<count).contains(top)
    else { throw RowDamage("the places of its objects are invalid", at: trailer + 8) }
    (self.count, self.top, self.offsets) = (count, top, offsets)
  }

  /// Checks an object and all objects in it.
  mutating func visit(_ object: Int, depth: Int) throws(RowDamage) {
    let start = try place(of: object)
    left -= 1
    guard left > 0, depth > 0 else { throw RowDamage("objects are nested too deeply or too often", at: start) }
    var content = ByteInput(bytes, start..<offsets)
    let marker = try content.byte()
    switch marker {
    case 0x08, 0x09: break
    case 0x10...0x14: _ = try content.range(of: 1 << Int(marker & 15))
    case 0x22, 0x23, 0x33: _ = try content.range(of: marker == 0x22 ? 4 : 8)
    case 0x40...0x5F: _ = try content.range(of: try length(marker, &content))
    case 0x60...0x6F: _ = try content.range(of: 2 * (try length(marker, &content)))
    case 0xA0...0xAF, 0xD0...0xDF: try visitMembers(of: marker, &content, depth)
    default: throw RowDamage("an object begins with 0x\(String(marker, radix: 16))", at: start)
    }
  }

  private mutating func visitMembers(of marker: UInt8, _ input: inout ByteInput, _ depth: Int) throws(RowDamage) {
    let count = try length(marker, &input)
    if marker >= 0xD0 {
      for _ in 0..<count { try checkKey(try bigEndian(referenceSize, &input)) }
    }
    for _ in 0..<count { try visit(try bigEndian(referenceSize, &input), depth: depth - 1) }
  }

  private mutating func checkKey(_ object: Int) throws(RowDamage) {
    let start = try place(of: object)
    guard (0x50...0x6F).contains(bytes[start]) else { throw RowDamage("a key is not a text", at: start) }
    try visit(object, depth: 1)
  }

  /// The text under a key of the outermost object.
  func text(_ key: String) throws(RowDamage) -> String? {
    var input = ByteInput(bytes, try place(of: top)..<offsets)
    let marker = try input.byte()
    guard (0xD0...0xDF).contains(marker) else { return nil }
    var keys: [Int] = []
    for _ in 0..<(try length(marker, &input)) { keys.append(try bigEndian(referenceSize, &input)) }
    for other in keys {
      let value = try bigEndian(referenceSize, &input)
      if try text(at: other) == key { return try text(at: value) }
    }
    return nil
  }

  /// Nil for an object that is no text.
  private func text(at object: Int) throws(RowDamage) -> String? {
    var input = ByteInput(bytes, try place(of: object)..<offsets)
    let marker = try input.byte()
    switch marker {
    case 0x50...0x5F: return String(decoding: bytes[try input.range(of: try length(marker, &input))], as: UTF8.self)
    case 0x60...0x6F:
      let units = bytes[try input.range(of: 2 * (try length(marker, &input)))]
      return String(
        decoding: stride(from: units.startIndex, to: units.endIndex, by: 2).map {
          UInt16(units[$0]) << 8 | UInt16(units[$0 + 1])
        }, as: UTF16.self)
    default: return nil
    }
  }

  private func place(of object: Int) throws(RowDamage) -> Int {
    guard object < count else { throw RowDamage("there is no object \(object)", at: offsets) }
    var input = ByteInput(bytes, offsets..<bytes.count)
    _ = try input.range(of: object * offsetSize)
    let start = try bigEndian(offsetSize, &input)
    guard (8..<offsets).contains(start) else { throw RowDamage("there is no object at \(start)", at: input.offset) }
    return start
  }

  /// Reads a number of bytes or objects, each of which takes at least one byte.
  private func length(_ marker: UInt8, _ input: inout ByteInput) throws(RowDamage) -> Int {
    guard marker & 15 == 15 else { return Int(marker & 15) }
    let size = try input.byte()
    guard (0x10...0x13).contains(size) else { throw input.damage("a length is not a number") }
    let length = try bigEndian(1 << Int(size & 15), &input)
    guard length <= bytes.count else {
      throw input.damage("a length is \(length), but there are only \(bytes.count) bytes")
    }
    return length
  }

  private func bigEndian(_ size: Int, _ input: inout ByteInput) throws(RowDamage) -> Int {
    var value: UInt64 = 0
    for place in try input.range(of: size) { value = value << 8 | UInt64(bytes[place]) }
    guard let number = Int(exactly: value) else { throw input.damage("a number has more than 63 bits") }
    return number
  }
}

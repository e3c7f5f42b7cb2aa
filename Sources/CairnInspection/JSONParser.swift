/// A JSON value whose numbers are integers.
indirect enum JSONValue {
  case null
  case bool(Bool)
  case integer(Int128)
  /// UTF-8.
  case string([UInt8])
  case array([JSONValue])
  case object([String: JSONValue])

  subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  var unsigned: UInt64? {
    guard case .integer(let value) = self else { return nil }
    return UInt64(exactly: value)
  }

  var text: String? {
    guard case .string(let bytes) = self else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Parses one JSON value (RFC 8259) whose numbers are integers.
struct JSONParser {
  struct Problem: Error {
    let words: String

    init(_ words: String) { self.words = words }
  }

  private static let deepest = 512

  private let bytes: ArraySlice<UInt8>
  private var position: Int

  static func parse(_ bytes: ArraySlice<UInt8>) throws(Problem) -> JSONValue {
    var parser = JSONParser(bytes: bytes, position: bytes.startIndex)
    let value = try parser.value(depth: 0)
    parser.skipSpaces()
    guard parser.position == bytes.endIndex else { throw Problem("the line continues after the value") }
    return value
  }

  private init(bytes: ArraySlice<UInt8>, position: Int) {
    self.bytes = bytes
    self.position = position
  }

  private var next: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

  private mutating func skipSpaces() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func take(word: String) -> Bool {
    guard bytes[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  private mutating func value(depth: Int) throws(Problem) -> JSONValue {
    guard depth < Self.deepest else { throw Problem("the value is nested too deeply") }
    skipSpaces()
    switch next {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    case UInt8(ascii: "\""): return .string(try string())
    case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .integer(try integer())
    default:
      if take(word: "null") { return .null }
      if take(word: "true") { return .bool(true) }
      if take(word: "false") { return .bool(false) }
      throw Problem(next == nil ? "a value is missing" : "no value at character \(position - bytes.startIndex + 1)")
    }
  }

  private mutating func object(depth: Int) throws(Problem) -> JSONValue {
    position += 1
    var members: [String: JSONValue] = [:]
    skipSpaces()
    if take("}") { return .object(members) }
    repeat {
      skipSpaces()
      guard next == UInt8(ascii: "\"") else { throw Problem("a member of an object has no name") }
      let name = String(decoding: try string(), as: UTF8.self)
      skipSpaces()
      guard take(":") else { throw Problem("a colon is missing") }
      guard members.updateValue(try value(depth: depth + 1), forKey: name) == nil else {
        throw Problem("an object has two members with the same name")
      }
      skipSpaces()
    } while take(",")
    guard take("}") else { throw Problem("an object has no closing brace") }
    return .object(members)
  }

  private mutating func array(depth: Int) throws(Problem) -> JSONValue {
    position += 1
    var elements: [JSONValue] = []
    skipSpaces()
    if take("]") { return .array(elements) }
    repeat {
      elements.append(try value(depth: depth + 1))
      skipSpaces()
    } while take(",")
    guard take("]") else { throw Problem("an array has no closing bracket") }
    return .array(elements)
  }

  private mutating func integer() throws(Problem) -> Int128 {
    let start = position
    _ = take("-")
    let (first, firstPosition) = (next, position)
    while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
    guard first != UInt8(ascii: "0") || position == firstPosition + 1 else {
      throw Problem("a number begins with 0 and goes on")
    }
    let digits = String(decoding: bytes[start..<position], as: UTF8.self)
    guard let value = Int128(digits), next != UInt8(ascii: "."), next != UInt8(ascii: "e"), next != UInt8(ascii: "E")
    else { throw Problem("a number is not an integer, or is too large") }
    return value
  }

  private mutating func string() throws(Problem) -> [UInt8] {
    position += 1
    var text: [UInt8] = []
    var start = position
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        text += bytes[start..<position]
        position += 1
        guard String(validating: text, as: UTF8.self) != nil else { throw Problem("a string is not UTF-8") }
        return text
      case UInt8(ascii: "\\"):
        text += bytes[start..<position]
        position += 1
        text += String(try escape()).utf8
        start = position
      case ..<0x20: throw Problem("a string contains a control character")
      default: position += 1
      }
    }
    throw Problem("a string has no closing quotation mark")
  }

  private mutating func escape() throws(Problem) -> Unicode.Scalar {
    guard let kind = next else { throw Problem("it ends within an escape") }
    position += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(kind)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let unit = try codeUnit()
      if let scalar = Unicode.Scalar(unit) { return scalar }
      guard 0xD800...0xDBFF ~= unit, take("\\"), take("u") else { throw Problem("half of a surrogate pair is escaped") }
      let low = try codeUnit()
      guard 0xDC00...0xDFFF ~= low,
        let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
      else { throw Problem("half of a surrogate pair is escaped") }
      return scalar
    default: throw Problem("an escape is not known")
    }
  }

  private mutating func codeUnit() throws(Problem) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = next?.hexadecimalValue else { throw Problem("\\u must be followed by four hexadecimal digits") }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}

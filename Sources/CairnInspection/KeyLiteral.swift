public import Cairn

/// Keys as people write them, and as the tools print them:
///
///     42                      an integer
///     d'1.5'                  a floating-point number
///     "Berlin\n"              a string; \n \r \t \0 \" \' \\ \u{1f600} as in Swift
///     Berlin                  a string too, if it is none of the others
///     x'0a0b'                 bytes
///     67e55044-10b1-426f-9247-bb680e5fe0c8
///     (7, "a", x'00')         a tuple; bare words in it end at a comma or a parenthesis
///
/// An integer must be written as it is printed: `007` is a string.
extension Key {
  /// Reads a literal.
  public init(literal: String) throws(KeyLiteralError) {
    var parser = LiteralParser(literal)
    do throws(LiteralParser.Problem) {
      self = try parser.whole()
    } catch {
      throw KeyLiteralError(literal: literal, reason: error.reason)
    }
  }

  /// The literal, in which everything that a terminal would not simply show is escaped.
  public var literal: String {
    var bytes: [UInt8] = []
    bytes.append(literal: self)
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The error for a text that begins like the literal of a key but is not one.
public struct KeyLiteralError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was given.
  public let literal: String
  /// What is wrong with it.
  public let reason: String

  /// The literal and the reason in a sentence.
  public var description: String { "\(Key.string(literal).literal) is not a key: \(reason)" }
}

extension [UInt8] {
  /// Appends the literal of a key.
  package mutating func append(literal key: Key) {
    switch key {
    case .integer(let value): append(decimal: value)
    case .double: append(contentsOf: key.description.utf8)
    case .string(let text): append(quoted: text, .literal)
    case .uuid: append(contentsOf: key.description.utf8)
    case .bytes(let bytes): unsafe bytes.withUnsafeBytes { unsafe append(hexLiteral: $0) }
    case .tuple(let elements):
      append(UInt8(ascii: "("))
      for (index, element) in elements.enumerated() {
        if index > 0 { append(contentsOf: ", ".utf8) }
        append(literal: element)
      }
      append(UInt8(ascii: ")"))
    }
  }

  /// Appends `x'0a0b'`.
  package mutating func append(hexLiteral bytes: UnsafeRawBufferPointer) {
    append(contentsOf: "x'".utf8)
    unsafe append(hex: bytes)
    append(UInt8(ascii: "'"))
  }
}

private struct LiteralParser {
  struct Problem: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
  }

  private let scalars: [Unicode.Scalar]
  private var position = 0

  init(_ text: String) { scalars = Array(text.unicodeScalars) }

  private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private func isNext(_ text: String) -> Bool { scalars[position...].starts(with: text.unicodeScalars) }

  mutating func whole() throws(Problem) -> Key {
    guard let key = try marked(depth: 0) else { return try bare(Self.text(scalars[...])) }
    guard next == nil else { throw Problem("it continues after its end") }
    return key
  }

  /// A literal whose first characters show its kind; nil if none begins here.
  private mutating func marked(depth: Int) throws(Problem) -> Key? {
    if next == "\"" { return .string(try quoted()) }
    if isNext("x'") { return .bytes(try bytes()) }
    if isNext("d'") { return .double(try double()) }
    if next == "(" { return .tuple(try elements(depth: depth + 1)) }
    return nil
  }

  private mutating func quoted() throws(Problem) -> String {
    var text = String.UnicodeScalarView()
    position += 1
    while let scalar = next {
      position += 1
      switch scalar {
      case "\"": return String(text)
      case "\\": text.append(try escape())
      default: text.append(scalar)
      }
    }
    throw Problem("the string has no closing quotation mark")
  }

  private mutating func escape() throws(Problem) -> Unicode.Scalar {
    guard let kind = next else { throw Problem("it ends within an escape") }
    position += 1
    switch kind {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "0": return "\0"
    case "\\", "\"", "'": return kind
    case "u":
      guard next == "{", let end = scalars[position...].firstIndex(of: "}"),
        case let digits = Self.text(scalars[(position + 1)..<end]), digits.first?.isHexDigit == true,
        let scalar = UInt32(digits, radix: 16).flatMap({ Unicode.Scalar($0) })
      else { throw Problem("\\u must be followed by a character's number, as in \\u{1f600}") }
      position = end + 1
      return scalar
    default: throw Problem("\\\(kind) is not an escape")
    }
  }

  private mutating func bytes() throws(Problem) -> [UInt8] {
    position += 2
    guard let end = scalars[position...].firstIndex(of: "'") else { throw Problem("the bytes have no closing '") }
    let digits = scalars[position..<end].map { UInt8(ascii: $0.isASCII ? $0 : "?") }.map(\.hexadecimalValue)
    position = end + 1
    guard digits.count.isMultiple(of: 2), !digits.contains(nil) else {
      throw Problem("bytes must be pairs of hexadecimal digits, as in x'0a0b'")
    }
    return stride(from: 0, to: digits.count, by: 2).map { (digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0) }
  }

  private mutating func double() throws(Problem) -> Double {
    position += 2
    guard let end = scalars[position...].firstIndex(of: "'") else { throw Problem("the number has no closing '") }
    defer { position = end + 1 }
    guard let value = Double(Self.text(scalars[position..<end])) else {
      throw Problem("d'…' must contain a number, as in d'1.5'")
    }
    return value
  }

  private mutating func elements(depth: Int) throws(Problem) -> [Key] {
    guard depth <= Key.maximumNesting else {
      throw Problem("tuples can be nested at most \(Key.maximumNesting) deep")
    }
    position += 1
    var elements: [Key] = []
    skipSpaces()
    if next == ")" {
      position += 1
      return []
    }
    while true {
      skipSpaces()
      if let element = try marked(depth: depth) {
        elements.append(element)
      } else {
        elements.append(try bareElement())
      }
      skipSpaces()
      guard let end = next else { throw Problem("the tuple has no closing parenthesis") }
      position += 1
      if end == ")" { return elements }
      guard end == "," else { throw Problem("the elements of a tuple must be separated by commas") }
    }
  }

  private mutating func skipSpaces() {
    while next == " " { position += 1 }
  }

  private mutating func bareElement() throws(Problem) -> Key {
    let end = scalars[position...].firstIndex { $0 == "," || $0 == ")" } ?? scalars.count
    var word = scalars[position..<end]
    while word.last == " " { word.removeLast() }
    position = end
    guard !word.isEmpty else {
      throw Problem(
        end == scalars.count ? "the tuple has no closing parenthesis" : "an element of the tuple is missing")
    }
    return try bare(Self.text(word))
  }

  private func bare(_ text: String) throws(Problem) -> Key {
    if let value = Int64(text), String(value) == text { return .integer(value) }
    if let value = Self.uuid(text) { return .uuid(value) }
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    if let first = digits.utf8.first, first != UInt8(ascii: "0"), digits.utf8.count > 18,
      digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    {
      throw Problem("the integer is out of range; a string of digits needs quotation marks")
    }
    return .string(text)
  }

  private static func uuid(_ text: String) -> UInt128? {
    let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard groups.map(\.count) == [8, 4, 4, 4, 12] else { return nil }
    var result: UInt128 = 0
    for digit in groups.joined() {
      guard let value = digit.hexadecimalValue else { return nil }
      result = result << 4 | UInt128(value)
    }
    return result
  }

  private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(scalars))
  }
}

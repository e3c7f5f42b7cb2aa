import Cairn

/// How text from a store is escaped for display, so that it cannot move the cursor, colour or reorder the text around
/// it, or stay invisible.
package enum Escaping: Sendable {
  /// As in a key's literal: `\u{1B}`.
  case literal
  /// As in a string of JSON: `\u001b`.
  case json

  /// Whether a scalar is a control (C0, delete, C1), separates lines, annotates text between lines, or may be invisible
  /// according to Unicode, as direction marks, zero-width characters, variation selectors and tags.
  package static func isHidden(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x20..<0x7F: false
    case 0..<0x20, 0x7F..<0xA0, 0x2028...0x2029, 0xFFF9...0xFFFB: true
    default: Unicode.Scalar(scalar)?.properties.isDefaultIgnorableCodePoint ?? false
    }
  }
}

extension [UInt8] {
  /// Whether these bytes are best shown as text: UTF-8 without controls other than tabs and ends of lines.
  package static func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var isASCII = true
    for position in 0..<bytes.count {
      let byte = unsafe bytes[position]
      if byte >= 0x80 {
        isASCII = false
      } else if byte < 0x20 ? !(byte == 0x09 || byte == 0x0A || byte == 0x0D) : byte == 0x7F {
        return false
      }
    }
    if isASCII { return true }
    guard let text = unsafe String(validating: bytes, as: UTF8.self) else { return false }
    return !text.unicodeScalars.contains { 0x80..<0xA0 ~= $0.value }
  }

  /// Appends UTF-8 in quotation marks, escaped.
  package mutating func append(quoted text: UnsafeRawBufferPointer, _ escaping: Escaping) {
    append(0x22)
    unsafe append(escaped: text, escaping)
    append(0x22)
  }

  package mutating func append(quoted text: String, _ escaping: Escaping) {
    var text = text
    text.withUTF8 { unsafe append(quoted: UnsafeRawBufferPointer($0), escaping) }
  }

  /// Appends UTF-8, escaped. Copies characters that need no escape in runs.
  private mutating func append(escaped text: UnsafeRawBufferPointer, _ escaping: Escaping) {
    var start = 0
    var position = 0
    while position < text.count {
      let byte = unsafe text[position]
      if byte >= 0x20, byte < 0x7F, byte != 0x22, byte != 0x5C {
        position += 1
        continue
      }
      let (scalar, length) = unsafe Self.scalar(text, position)
      if scalar == 0x22 || scalar == 0x5C || Escaping.isHidden(scalar) {
        unsafe append(contentsOf: text[start..<position])
        append(escape: scalar, escaping)
        start = position + length
      }
      position += length
    }
    unsafe append(contentsOf: text[start..<text.count])
  }

  /// The scalar that begins at `position`, in text known to be UTF-8.
  private static func scalar(_ text: UnsafeRawBufferPointer, _ position: Int) -> (value: UInt32, length: Int) {
    func bits(_ offset: Int) -> UInt32 {
      unsafe position + offset < text.count ? UInt32(text[position + offset] & 0x3F) : 0
    }
    let first = unsafe UInt32(text[position])
    switch first {
    case ..<0x80: return (first, 1)
    case ..<0xE0: return ((first & 0x1F) << 6 | bits(1), Swift.min(2, text.count - position))
    case ..<0xF0: return ((first & 0x0F) << 12 | bits(1) << 6 | bits(2), Swift.min(3, text.count - position))
    default:
      let value = (first & 0x07) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3)
      return (value, Swift.min(4, text.count - position))
    }
  }

  private mutating func append(escape scalar: UInt32, _ escaping: Escaping) {
    append(0x5C)
    switch (scalar, escaping) {
    case (0x22, _), (0x5C, _): append(UInt8(scalar))
    case (0x09, _): append(UInt8(ascii: "t"))
    case (0x0A, _): append(UInt8(ascii: "n"))
    case (0x0D, _): append(UInt8(ascii: "r"))
    case (0, .literal): append(UInt8(ascii: "0"))
    case (_, .literal): append(contentsOf: "u{\(String(scalar, radix: 16, uppercase: true))}".utf8)
    case (_, .json):
      // A scalar beyond U+FFFF is two escapes.
      let units = Unicode.Scalar(scalar).map { $0.utf16.map(\.self) } ?? []
      let escapes = units.map { unit in
        let digits = String(unit, radix: 16)
        return "u\(String(repeating: "0", count: 4 - digits.count))\(digits)"
      }
      append(contentsOf: escapes.joined(separator: "\\").utf8)
    }
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)

  /// Appends two digits for each byte.
  package mutating func append(hex bytes: UnsafeRawBufferPointer) {
    reserveCapacity(count + 2 * bytes.count)
    for position in 0..<bytes.count {
      let byte = unsafe bytes[position]
      append(Self.hexDigits[Int(byte >> 4)])
      append(Self.hexDigits[Int(byte & 15)])
    }
  }

  /// Appends the decimal digits.
  package mutating func append(decimal number: some BinaryInteger) {
    var number = number
    if number < 0 {
      append(contentsOf: String(number).utf8)
      return
    }
    let start = count
    repeat {
      let (rest, digit) = number.quotientAndRemainder(dividingBy: 10)
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
      number = rest
    } while number > 0
    self[start...].reverse()
  }
}

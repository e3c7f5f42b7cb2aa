/// One paragraph of a package catalogue: fields of the form `Name: value`, whose values may continue on lines that
/// begin with a space or a tab.
struct Stanza {
  /// The place of a field in ``bytes``.
  struct Field {
    let name: Range<Int>
    /// From the colon to the end of the last line.
    var value: Range<Int>
  }

  /// The line number of the first line, counted from 1 in the file.
  let line: Int
  /// The paragraph verbatim, without the blank line that ends it.
  let bytes: [UInt8]
  let fields: [Field]

  /// The value of the field with this name, compared without regard to case; without the white space around it.
  subscript(name: String) -> String? {
    guard let field = fields.first(where: { isNamed(name, $0) }) else { return nil }
    var value = bytes[field.value]
    while let first = value.first, first.isWhiteSpace { value.removeFirst() }
    while let last = value.last, last.isWhiteSpace { value.removeLast() }
    return String(decoding: value, as: UTF8.self)
  }

  /// The first line of the description.
  var summary: String? { self["Description"]?.split(separator: "\n").first.map(String.init) }

  private func isNamed(_ name: String, _ field: Field) -> Bool {
    let wanted = name.utf8
    guard wanted.count == field.name.count else { return false }
    return zip(wanted, bytes[field.name]).allSatisfy { $0.lowercased == $1.lowercased }
  }
}

/// The reason why a catalogue cannot be read, and the place.
struct StanzaError: Error, Hashable, CustomStringConvertible {
  enum Problem: Hashable, CustomStringConvertible {
    case noColon
    case badFieldName
    case continuationWithoutField
    case tooLong
    case missingField(String)
    case badValue(field: String, String)

    var description: String {
      switch self {
      case .noColon: "the line is neither a field nor the continuation of one"
      case .badFieldName: "the field's name is empty or has other characters than printable ASCII"
      case .continuationWithoutField: "the line continues a field, but no field precedes it"
      case .tooLong: "the stanza is longer than \(StanzaParser.longestStanza >> 20) MiB"
      case .missingField(let name): "the stanza has no \(name)"
      case .badValue(let field, let value): "\(field) is `\(value)`, which does not name a package"
      }
    }
  }

  let file: String
  let line: Int
  let problem: Problem

  var description: String { "\(file):\(line): \(problem)" }
}

extension UInt8 {
  /// Space, tab, line feed or carriage return.
  var isWhiteSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }

  var lowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}

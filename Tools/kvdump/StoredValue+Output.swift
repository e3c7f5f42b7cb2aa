import Cairn
import CairnInspection
import RowFormat

extension StoredValue {
  /// The value as JSON. A value that JSON has no type for becomes a string: a date in ISO 8601 notation, bytes as
  /// hexadecimal digits, an object as its URI.
  func json(_ names: ObjectNames) -> JSON {
    switch self {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    // The shortest digits that convert back to the same float.
    case .float(let value): .double(Double("\(value)") ?? Double(value))
    case .composite(let elements): .members(elements.map { JSON.Member($0.name, $0.value.json(names)) })
    case .string, .data, .date, .uuid, .decimal, .uri, .object, .transformed, .identifier: .string(text(names.uri))
    }
  }

  /// The value as it is told from other values: a text in quotation marks, bytes as `x'0a0b'`, nil as `nil`.
  func literal(_ names: ObjectNames) -> String {
    switch self {
    case .null: "nil"
    case .string(let text): Key.string(text).literal
    case .data(let bytes), .transformed(let bytes): Key.bytes(bytes).literal
    case .composite(let elements):
      "(\(elements.map { "\(escapedForTerminal($0.name)): \($0.value.literal(names))" }.joined(separator: ", ")))"
    default: escapedForTerminal(text(names.name))
    }
  }

  /// The value as text; `name` gives the name of an object.
  func text(_ name: (ObjectReference) -> String) -> String {
    switch self {
    case .null: ""
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .float(let value): "\(value)"
    case .string(let text), .decimal(let text), .uri(let text), .identifier(let text): text
    case .date(let seconds): ISODate.text(seconds)
    case .uuid(let key): "\(key)"
    case .object(let object): name(object)
    case .data(let bytes), .transformed(let bytes):
      {
        var digits: [UInt8] = []
        unsafe bytes.withUnsafeBytes { unsafe digits.append(hex: $0) }
        return String(decoding: digits, as: UTF8.self)
      }()
    case .composite(let elements):
      elements.map { "\($0.name): \($0.value.text(name))" }.joined(separator: ", ")
    }
  }
}

import Cairn
import CairnInspection

/// A JSON value. Its objects keep the order of their members.
indirect enum JSON {
  case null
  case bool(Bool)
  case number(UInt64)
  case integer(Int64)
  /// A number that is not finite becomes a string.
  case double(Double)
  case string(String)
  case array([JSON])
  case object(KeyValuePairs<String, JSON>)
  /// An object whose member names come from a store.
  case members([Member])
  case key(Key)
  /// A row's value: text or hexadecimal digits.
  case value([UInt8])
  /// A string of hexadecimal digits.
  case bytes([UInt8])

  struct Member {
    let name: String
    let value: JSON

    init(_ name: String, _ value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// An object with one more member if that has a value.
  static func object(_ members: KeyValuePairs<String, JSON>, _ name: String, _ value: JSON?) -> JSON {
    guard let value else { return .object(members) }
    return .members(members.map { Member($0.key, $0.value) } + [Member(name, value)])
  }

  static func number(_ value: some DistinctNumber) -> JSON { .number(UInt64(value.rawValue)) }

  static func number(_ value: Int) -> JSON { .number(UInt64(max(0, value))) }

  /// Appends the value, over several lines if `indentation` is given.
  func write(to bytes: inout [UInt8], indentation: Int?) {
    switch self {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let value): bytes.append(contentsOf: "\(value)".utf8)
    case .number(let value): bytes.append(decimal: value)
    case .integer(let value): bytes.append(decimal: value)
    case .double(let value) where value.isFinite: bytes.append(contentsOf: "\(value)".utf8)
    case .double(let value): bytes.append(quoted: "\(value)", .json)
    case .string(let text): bytes.append(quoted: text, .json)
    case .key(let key): bytes.append(json: key)
    case .value(let value): unsafe value.withUnsafeBytes { unsafe bytes.append(jsonValue: $0) }
    case .bytes(let content):
      bytes.append(UInt8(ascii: "\""))
      unsafe content.withUnsafeBytes { unsafe bytes.append(hex: $0) }
      bytes.append(UInt8(ascii: "\""))
    case .array(let elements):
      Self.write(elements, "[", "]", &bytes, indentation) { element, bytes, indentation in
        element.write(to: &bytes, indentation: indentation)
      }
    case .object(let members):
      Self.write(members, "{", "}", &bytes, indentation) { Self.write($0.key, $0.value, &$1, $2) }
    case .members(let members):
      Self.write(members, "{", "}", &bytes, indentation) { Self.write($0.name, $0.value, &$1, $2) }
    }
  }

  private static func write(_ name: String, _ value: JSON, _ bytes: inout [UInt8], _ indentation: Int?) {
    bytes.append(quoted: name, .json)
    bytes.append(contentsOf: (indentation == nil ? ":" : ": ").utf8)
    value.write(to: &bytes, indentation: indentation)
  }

  private static func write<Elements: Collection>(
    _ elements: Elements, _ opening: String, _ closing: String, _ bytes: inout [UInt8], _ indentation: Int?,
    _ write: (Elements.Element, inout [UInt8], Int?) -> Void
  ) {
    func breakLine(_ indentation: Int?) {
      guard let indentation, !elements.isEmpty else { return }
      bytes.append(UInt8(ascii: "\n"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indentation))
    }
    bytes.append(contentsOf: opening.utf8)
    var isFirst = true
    for element in elements {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      breakLine(indentation.map { $0 + 2 })
      write(element, &bytes, indentation.map { $0 + 2 })
    }
    breakLine(indentation)
    bytes.append(contentsOf: closing.utf8)
  }
}

extension Output {
  /// Writes one document over several lines, or one line of JSON lines.
  mutating func write(_ json: JSON, _ format: OutputFormat) throws {
    json.write(to: &bytes, indentation: format == .json ? 0 : nil)
    try endLine()
  }
}

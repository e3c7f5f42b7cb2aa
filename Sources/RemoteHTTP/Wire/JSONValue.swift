#if HTTP
  import Foundation

  /// A value of JSON. Whole numbers of 64 bits stay exact.
  enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Another number, with all its digits if they matter.
    case number(Double, Decimal?)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The value at a key path: null below a null, nil where there is nothing.
    subscript(keyPath: String) -> JSONValue? {
      var value = self
      for key in keyPath.split(separator: ".") {
        switch value {
        case .object(let members):
          guard let member = members[String(key)] else { return nil }
          value = member
        case .null: return .null
        default: return nil
        }
      }
      return value
    }

    /// Puts a value where a key path leads, in objects that are made if they are not there.
    mutating func set(_ value: JSONValue, at keys: ArraySlice<Substring>) {
      guard let key = keys.first else {
        self = value
        return
      }
      var members: [String: JSONValue] = if case .object(let members) = self { members } else { [:] }
      members[String(key), default: .null].set(value, at: keys.dropFirst())
      self = .object(members)
    }

    /// The value at the root, or at a key path if there is one.
    func at(_ keyPath: String?) -> JSONValue? { keyPath.map { self[$0] } ?? self }

    /// A text or a number as the text of an identifier or of a version; nil for everything else.
    var text: String? {
      switch self {
      case .string(let text): text
      case .integer(let number): "\(number)"
      case .number(let number, let digits): digits.map { "\($0)" } ?? "\(number)"
      default: nil
      }
    }
  }

  extension JSONValue: Codable {
    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      // What is frequent comes first.
      if let text = try? container.decode(String.self) {
        self = .string(text)
      } else if container.decodeNil() {
        self = .null
      } else if let number = try? container.decode(Int64.self) {
        self = .integer(number)
      } else if let bool = try? container.decode(Bool.self) {
        self = .bool(bool)
      } else if let number = try? container.decode(Double.self) {
        self = .number(number, try container.decode(Decimal.self))
      } else if let members = try? container.decode([String: JSONValue].self) {
        self = .object(members)
      } else {
        self = .array(try container.decode([JSONValue].self))
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .null: try container.encodeNil()
      case .bool(let bool): try container.encode(bool)
      case .integer(let number): try container.encode(number)
      case .number(_, let digits?): try container.encode(digits)
      case .number(let number, nil): try container.encode(number)
      case .string(let text): try container.encode(text)
      case .array(let elements): try container.encode(elements)
      case .object(let members): try container.encode(members)
      }
    }
  }
#endif

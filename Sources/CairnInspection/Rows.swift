public import Cairn

extension KeyRange {
  /// The range that satisfies all given bounds: keys that begin with `prefix`, from `from` on, before `to`.
  public init(prefix: Key?, from: Key?, to: Key?) {
    let prefix = prefix.map(KeyRange.prefix) ?? .all
    let lowers = [prefix.lower, from?.encoded ?? []]
    let uppers = [prefix.upper, to?.encoded].compactMap(\.self)
    self.init(
      lower: lowers.max { $0.lexicographicallyPrecedes($1) } ?? [],
      upper: uppers.min { $0.lexicographicallyPrecedes($1) })
  }
}

extension Store {
  /// Opens a store for inspection: takes no lock and changes nothing. `progress` is `StoreOptions.recoveryProgress`.
  public static func openForInspection(
    at path: String, progress: (@Sendable (RecoveryProgress) -> Bool)? = nil
  ) throws(StoreError) -> Store {
    var options = StoreOptions()
    options.access = .readOnly
    options.recoveryProgress = progress
    return try open(at: path, options: options)
  }

  static func openForInspection(at directory: StoreDirectory) throws(StoreError) -> Store {
    var options = StoreOptions()
    options.access = .readOnly
    var environment = Environment.system
    environment.files = directory.files
    return try open(at: directory.path, options: options, environment: environment)
  }

  /// The keyspace with this name. Unlike `keyspace(_:order:)`, this creates none, and it accepts either order.
  public func existingKeyspace(_ name: String) throws(StoreError) -> Keyspace {
    if let keyspace = keyspaces.first(where: { $0.name == name }) { return keyspace }
    let names = keyspaces.map { Key.string($0.name).literal }
    throw StoreError(
      .notFound,
      "there is no keyspace \(Key.string(name).literal); "
        + (names.isEmpty ? "the store has none" : "the keyspaces are \(names.joined(separator: ", "))"))
  }
}

/// Writes rows as text or JSON, one after the other, escaped; see ``Escaping``.
package struct RowWriter: Sendable {
  package enum Form: Sendable {
    /// The key's literal, a tab, and the value.
    case text
    /// `{"key":…,"value":…,"version":…,"sequence":…}`
    case json
  }

  private let form: Form
  private let keysOnly: Bool

  package init(_ form: Form, keysOnly: Bool = false) {
    self.form = form
    self.keysOnly = keysOnly
  }

  /// Appends a row without an end of line.
  package func write(
    _ encoded: RawSpan, _ value: RawSpan, _ stamp: RowStamp, to bytes: inout [UInt8]
  ) throws(StoreError) {
    let key: Key
    do throws(MalformedKey) { key = try Key(validating: encoded) } catch {
      throw StoreError(.corrupted, "a key is not encoded correctly")
    }
    switch form {
    case .text:
      bytes.append(literal: key)
      guard !keysOnly else { return }
      bytes.append(UInt8(ascii: "\t"))
      unsafe value.withUnsafeBytes { unsafe bytes.append(valueLiteral: $0) }
    case .json:
      bytes.append(contentsOf: #"{"key":"#.utf8)
      bytes.append(json: key)
      if !keysOnly {
        bytes.append(contentsOf: #","value":"#.utf8)
        unsafe value.withUnsafeBytes { unsafe bytes.append(jsonValue: $0) }
      }
      bytes.append(contentsOf: #","version":"#.utf8)
      bytes.append(decimal: stamp.version)
      bytes.append(contentsOf: #","sequence":"#.utf8)
      bytes.append(decimal: stamp.sequence.rawValue)
      bytes.append(UInt8(ascii: "}"))
    }
  }
}

extension [UInt8] {
  /// Appends a value as quoted text or, if it is not text, as hexadecimal digits.
  package mutating func append(valueLiteral value: UnsafeRawBufferPointer) {
    if unsafe Self.isText(value) {
      unsafe append(quoted: value, .literal)
    } else {
      unsafe append(hexLiteral: value)
    }
  }

  /// Appends `{"text":"…"}` or `{"hex":"…"}`.
  package mutating func append(jsonValue value: UnsafeRawBufferPointer) {
    if unsafe Self.isText(value) {
      append(contentsOf: #"{"text":"#.utf8)
      unsafe append(quoted: value, .json)
    } else {
      append(contentsOf: #"{"hex":""#.utf8)
      unsafe append(hex: value)
      append(UInt8(ascii: "\""))
    }
    append(UInt8(ascii: "}"))
  }

  /// Appends `{"integer":…}`, `{"double":"…"}`, `{"text":"…"}`, `{"uuid":"…"}`, `{"hex":"…"}` or `{"tuple":[…]}`.
  package mutating func append(json key: Key) {
    switch key {
    case .integer(let value):
      append(contentsOf: #"{"integer":"#.utf8)
      append(decimal: value)
    case .double(let value):
      append(contentsOf: #"{"double":"\#(value)""#.utf8)
    case .string(let text):
      append(contentsOf: #"{"text":"#.utf8)
      append(quoted: text, .json)
    case .uuid:
      append(contentsOf: #"{"uuid":"\#(key.description)""#.utf8)
    case .bytes(let bytes):
      append(contentsOf: #"{"hex":""#.utf8)
      unsafe bytes.withUnsafeBytes { unsafe append(hex: $0) }
      append(UInt8(ascii: "\""))
    case .tuple(let elements):
      append(contentsOf: #"{"tuple":["#.utf8)
      for (index, element) in elements.enumerated() {
        if index > 0 { append(UInt8(ascii: ",")) }
        append(json: element)
      }
      append(UInt8(ascii: "]"))
    }
    append(UInt8(ascii: "}"))
  }
}

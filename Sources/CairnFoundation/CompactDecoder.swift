import Foundation

/// Decodes what ``CompactEncoder`` encodes. A field is found by its number, or else by its name.
struct CompactDecoder {
  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    let value: CompactValue
    do throws(CompactValue.Malformed) {
      value = try CompactValue(bytes)
    } catch {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "\(error.reason), at byte \(error.position)"))
    }
    return try NodeDecoder(value: value, codingPath: []).decode(type)
  }
}

private struct NodeDecoder: Decoder, SingleValueDecodingContainer {
  let value: CompactValue
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .map(let pairs) = value else { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(KeyedDecoder<Key>(pairs: pairs, codingPath: codingPath))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    // Nothing says whether an empty container was a map or an array.
    if case .map(let pairs) = value, pairs.isEmpty { return UnkeyedDecoder(elements: [], codingPath: codingPath) }
    guard case .array(let elements) = value else { throw mismatch([Any].self) }
    return UnkeyedDecoder(elements: elements, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { value == .null }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let found: Any? =
      switch type {
      case is Bool.Type: if case .bool(let value) = value { value } else { nil }
      case is String.Type: if case .text(let text) = value { text } else { nil }
      case is Data.Type: if case .bytes(let bytes) = value { Data(bytes) } else { nil }
      case is UUID.Type: if case .bytes(let bytes) = value { UUID(bytes) } else { nil }
      case is Double.Type: double
      case is Float.Type: double.map { Float($0) }
      case let type as any FixedWidthInteger.Type: integer(type)
      default: try Value(from: self)
      }
    guard let found = found as? Value else { throw mismatch(type) }
    return found
  }

  private var double: Double? {
    switch value {
    case .double(let value): value
    case .float(let value): Double(value)
    default: nil
    }
  }

  private func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Any? {
    switch value {
    case .unsigned(let number): Integer(exactly: number)
    case .negative(let number): Int64(exactly: number).flatMap { Integer(exactly: -1 - $0) }
    default: nil
    }
  }

  private func mismatch(_ type: Any.Type) -> DecodingError {
    let context = DecodingError.Context(codingPath: codingPath, debugDescription: "The value is no \(type).")
    return value == .null ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }
}

private struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let pairs: [(key: CompactValue, value: CompactValue)]
  let codingPath: [any CodingKey]

  var allKeys: [Key] {
    pairs.compactMap { pair in
      switch pair.key {
      case .unsigned(let number): Int(exactly: number).flatMap { Key(intValue: $0) }
      case .text(let name): Key(stringValue: name)
      default: nil
      }
    }
  }

  private func found(_ key: any CodingKey) -> CompactValue? {
    let wanted = key.compactValue
    return pairs.first { $0.key == wanted }?.value
  }

  private func node(_ key: any CodingKey) throws -> NodeDecoder {
    guard let value = found(key) else {
      throw DecodingError.keyNotFound(
        key, DecodingError.Context(codingPath: codingPath, debugDescription: "There is no field \(key.stringValue)."))
    }
    return NodeDecoder(value: value, codingPath: codingPath + [key])
  }

  func contains(_ key: Key) -> Bool { found(key) != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try node(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try node(key).decode(type) }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try node(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try node(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try node(SuperKey()) }

  func superDecoder(forKey key: Key) throws -> any Decoder { try node(key) }
}

private struct UnkeyedDecoder: UnkeyedDecodingContainer {
  let elements: [CompactValue]
  let codingPath: [any CodingKey]
  private(set) var currentIndex = 0

  init(elements: [CompactValue], codingPath: [any CodingKey]) {
    (self.elements, self.codingPath) = (elements, codingPath)
  }

  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  private func node(_ type: Any.Type) throws -> NodeDecoder {
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        type, DecodingError.Context(codingPath: codingPath, debugDescription: "There are no more elements."))
    }
    return NodeDecoder(value: elements[currentIndex], codingPath: codingPath)
  }

  mutating func decodeNil() throws -> Bool {
    guard try node(Never.self).decodeNil() else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try node(type).decode(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> {
    let container = try node(type).container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try node([Any].self).unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = try node(Never.self)
    currentIndex += 1
    return decoder
  }
}

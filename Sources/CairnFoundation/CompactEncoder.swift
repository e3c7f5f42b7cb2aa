import Foundation

/// Encodes values as CBOR. Dates are seconds since the beginning of 2001, as Foundation encodes them; data and
/// UUIDs are bytes.
struct CompactEncoder {
  func encode(_ value: some Encodable) throws -> [UInt8] { try compact(value, []).encoded }

  fileprivate static func value(_ value: some Encodable, _ path: [any CodingKey]) throws -> CompactValue {
    let encoder = NodeEncoder(path)
    try value.encode(to: encoder)
    return encoder.node.value
  }
}

/// A value in the making, which several containers may share.
private final class Node {
  enum Content {
    case none
    case single(CompactValue)
    case array([Node])
    case map([(key: CompactValue, node: Node)])
  }

  var content = Content.none

  init(_ value: CompactValue? = nil) {
    if let value { content = .single(value) }
  }

  var value: CompactValue {
    switch content {
    case .none: .map([])
    case .single(let value): value
    case .array(let nodes): .array(nodes.map(\.value))
    case .map(let pairs): .map(pairs.map { ($0.key, $0.node.value) })
    }
  }

  func append(_ node: Node) -> Node {
    if case .array(let nodes) = content { content = .array(nodes + [node]) } else { content = .array([node]) }
    return node
  }

  func set(_ node: Node, for key: any CodingKey) -> Node {
    var pairs: [(key: CompactValue, node: Node)] = []
    if case .map(let present) = content { pairs = present }
    let key = key.compactValue
    if let index = pairs.firstIndex(where: { $0.key == key }) {
      pairs[index].node = node
    } else {
      pairs.append((key, node))
    }
    content = .map(pairs)
    return node
  }
}

extension CodingKey {
  /// The number of the field, or its name.
  var compactValue: CompactValue { intValue.map { CompactValue($0) } ?? .text(stringValue) }
}

private struct NodeEncoder: Encoder, SingleValueEncodingContainer {
  let node: Node
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ path: [any CodingKey], _ node: Node = Node()) { (self.node, codingPath) = (node, path) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    if case .none = node.content { node.content = .map([]) }
    return KeyedEncodingContainer(KeyedEncoder<Key>(node: node, codingPath: codingPath))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    if case .none = node.content { node.content = .array([]) }
    return UnkeyedEncoder(node: node, codingPath: codingPath)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  func encodeNil() { node.content = .single(.null) }

  func encode(_ value: some Encodable) throws { node.content = .single(try compact(value, codingPath)) }
}

/// Numbers, texts and booleans encode themselves in a single-value container, and would ask for one again for ever.
private func compact(_ value: some Encodable, _ path: [any CodingKey]) throws -> CompactValue {
  switch value {
  case let value as Bool: .bool(value)
  case let value as String: .text(value)
  case let value as Data: .bytes([UInt8](value))
  case let value as UUID: .bytes(unsafe withUnsafeBytes(of: value.uuid) { unsafe [UInt8]($0) })
  case let value as Double: .double(value)
  case let value as Float: .float(value)
  case let value as any FixedWidthInteger:
    if let number = UInt64(exactly: value) {
      .unsigned(number)
    } else if let number = Int64(exactly: value) {
      CompactValue(number)
    } else {
      throw EncodingError.invalidValue(
        value, EncodingError.Context(codingPath: path, debugDescription: "The number has more than 64 bits."))
    }
  default: try CompactEncoder.value(value, path)
  }
}

private struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let node: Node
  let codingPath: [any CodingKey]

  func encodeNil(forKey key: Key) { _ = node.set(Node(.null), for: key) }

  func encode(_ value: some Encodable, forKey key: Key) throws {
    _ = node.set(Node(try compact(value, codingPath + [key])), for: key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy keyType: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    NodeEncoder(codingPath + [key], node.set(Node(), for: key)).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    NodeEncoder(codingPath + [key], node.set(Node(), for: key)).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { NodeEncoder(codingPath, node.set(Node(), for: SuperKey())) }

  func superEncoder(forKey key: Key) -> any Encoder { NodeEncoder(codingPath + [key], node.set(Node(), for: key)) }
}

private struct UnkeyedEncoder: UnkeyedEncodingContainer {
  let node: Node
  let codingPath: [any CodingKey]

  var count: Int {
    if case .array(let nodes) = node.content { nodes.count } else { 0 }
  }

  func encodeNil() { _ = node.append(Node(.null)) }

  func encode(_ value: some Encodable) throws { _ = node.append(Node(try compact(value, codingPath))) }

  func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
    NodeEncoder(codingPath, node.append(Node())).container(keyedBy: keyType)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    NodeEncoder(codingPath, node.append(Node())).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { NodeEncoder(codingPath, node.append(Node())) }
}

/// The key under which the part of a superclass is encoded.
struct SuperKey: CodingKey {
  var stringValue: String { "super" }
  var intValue: Int? { nil }

  init() {}
  init?(stringValue: String) { if stringValue != "super" { return nil } }
  init?(intValue: Int) { nil }
}

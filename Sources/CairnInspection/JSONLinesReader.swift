package import Cairn

/// Reads what `kvdump dump --format jsonl` writes.
package struct JSONLinesReader {
  package struct Keyspace: Sendable {
    package let id: KeyspaceID
    package let name: String
    package let isOrdered: Bool
    package let retention: Int
    package let definedAt: CommitSequence
  }

  package struct Version: Sendable {
    package let keyspace: KeyspaceID
    package let key: Key
    /// nil for a deletion.
    package let value: [UInt8]?
    package let version: UInt64
    package let sequence: CommitSequence
    /// Whether the version before this one is a newer version of the same row.
    package let isOld: Bool
  }

  package enum Item: Sendable {
    case keyspace(Keyspace)
    case version(Version)
  }

  private var lines: LineReader
  /// The name of the member with a version's sequence.
  private var sequenceMember = "sequence"
  package private(set) var lastSequence: CommitSequence = 0

  /// Reads the first line.
  package init(_ lines: LineReader) throws {
    self.lines = lines
    let head = try parse()
    guard let head, head["schema"]?.text == "kvdump.dump" else {
      throw self.lines.problem("this is not the first line of a dump by kvdump dump --format jsonl")
    }
    switch head["schemaVersion"]?.unsigned {
    case 1: sequenceMember = "revision"
    case 2: break
    default: throw StoreError(.newerFormat, "the dump was written by a newer version")
    }
    lastSequence = try self.lines.sequence(head, "lastSequence", in: 0...Format.maximumBaseSequence)
  }

  package func problem(_ words: String) -> StoreError { lines.problem(words) }

  private mutating func parse() throws -> JSONValue? {
    guard let line = try lines.next() else { return nil }
    do throws(JSONParser.Problem) {
      return try JSONParser.parse(line)
    } catch {
      throw lines.problem(error.words)
    }
  }

  /// The next keyspace or version; nil at the end.
  /// - Throws: `malformed`, also if the dump has been cut off.
  package mutating func next() throws -> Item? {
    guard let line = try parse() else {
      throw StoreError(.malformed, "the dump has no last line: it is truncated")
    }
    if line["end"] != nil {
      guard try lines.next() == nil else { throw lines.problem("the input continues after the end of the dump") }
      return nil
    }
    if line["keyspace"] != nil { return .keyspace(try keyspace(line)) }
    return .version(try version(line))
  }

  private func keyspace(_ line: JSONValue) throws(StoreError) -> Keyspace {
    guard let id = line["keyspace"]?.keyspace, (1...KeyspaceID.highest).contains(id),
      let name = line["name"]?.text, (1...Int(UInt16.max)).contains(name.utf8.count)
    else { throw lines.problem("a keyspace must have a number and a name") }
    guard let order = line["order"]?.text, ["ordered", "unordered"].contains(order) else {
      throw lines.problem("a keyspace must be ordered or unordered")
    }
    guard let retention = line["retention"]?.unsigned, (1...UInt64(Retention.maximumCount)).contains(retention) else {
      throw lines.problem("a keyspace must keep 1 to \(Retention.maximumCount) versions")
    }
    return Keyspace(
      id: id, name: name, isOrdered: order == "ordered", retention: Int(retention),
      definedAt: try lines.sequence(line, "definedAt", in: 1...max(1, lastSequence)))
  }

  private func version(_ line: JSONValue) throws(StoreError) -> Version {
    guard let keyspace = line["in"]?.keyspace, let key = line["key"],
      let value = line["value"]
    else { throw lines.problem("a row must have a keyspace, a key and a value") }
    let bytes: [UInt8]?
    switch value {
    case .null: bytes = nil
    default:
      guard let given = value.bytes else { throw lines.problem(#"a value must be {"text":…}, {"hex":…} or null"#) }
      bytes = given
    }
    guard bytes?.count ?? 0 <= Format.maximumValueLength else { throw lines.problem("the value is longer than 1 GiB") }
    guard let version = line["version"]?.unsigned else { throw lines.problem("a row must have a version") }
    guard bytes == nil || version > 0 else { throw lines.problem("the version of a row must be at least 1") }
    var isOld = false
    if case .bool(true) = line["old"] { isOld = true }
    guard let key = Key(key, depth: 0) else {
      throw lines.problem(#"a key must be {"integer":…}, {"text":…}, {"uuid":…}, {"hex":…} or {"tuple":[…]}"#)
    }
    return Version(
      keyspace: keyspace, key: key, value: bytes, version: version,
      sequence: try lines.sequence(line, sequenceMember, in: 1...max(1, lastSequence)), isOld: isOld)
  }
}

extension LineReader {
  fileprivate func sequence(
    _ line: JSONValue, _ name: String, in range: ClosedRange<CommitSequence>
  ) throws(StoreError) -> CommitSequence {
    guard let sequence = line[name]?.unsigned.map({ CommitSequence($0) }), range.contains(sequence) else {
      throw problem("\(name) must be a sequence from \(range.lowerBound) to \(range.upperBound)")
    }
    return sequence
  }
}

extension JSONValue {
  fileprivate var keyspace: KeyspaceID? { unsigned.flatMap { UInt32(exactly: $0) }.map { KeyspaceID($0) } }

  /// The bytes in `{"text":…}` or `{"hex":…}`; nil for anything else.
  fileprivate var bytes: [UInt8]? {
    if case .string(let text) = self["text"] { return text }
    guard case .string(let digits) = self["hex"], digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for position in stride(from: 0, to: digits.count, by: 2) {
      guard let high = digits[position].hexadecimalValue, let low = digits[position + 1].hexadecimalValue else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}

extension Key {
  fileprivate init?(_ value: JSONValue, depth: Int) {
    if case .integer(let number) = value["integer"], let integer = Int64(exactly: number) {
      self = .integer(integer)
    } else if let number = value["double"]?.text.flatMap({ Double($0) }) {
      self = .double(number)
    } else if let text = value["text"]?.text {
      self = .string(text)
    } else if let text = value["uuid"]?.text, case .uuid(let uuid)? = try? Key(literal: text) {
      self = .uuid(uuid)
    } else if value["hex"] != nil, let bytes = value.bytes {
      self = .bytes(bytes)
    } else if case .array(let elements) = value["tuple"], depth < Self.maximumNesting {
      let keys = elements.compactMap { Key($0, depth: depth + 1) }
      guard keys.count == elements.count else { return nil }
      self = .tuple(keys)
    } else {
      return nil
    }
  }
}

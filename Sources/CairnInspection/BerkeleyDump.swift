package import Cairn

/// The loader that a dump in Berkeley DB's text format is meant for.
package enum DumpProfile: String, Sendable, CaseIterable {
  /// Only what the loaders of both Berkeley DB and LMDB accept.
  case bdb
  /// Also the map size, which LMDB's loader needs for more than 1 MiB.
  case lmdb
}

/// How such a dump writes a row's key.
package enum DumpKeys: String, Sendable, CaseIterable {
  /// The encoded key, of any kind; it sorts like the key (FORMAT.md, section 6).
  case encoded
  /// The bytes of a key that is bytes; other keys are refused.
  case bytes
  /// The UTF-8 of a key that is a string; other keys are refused.
  case text
}

/// Writes Berkeley DB's text format: a header, a line for each key and one for its value, each a space and hexadecimal
/// digits, then `DATA=END`. Apart from the map size and the names of databases, writes only what both loaders accept.
package struct BerkeleyDump: Sendable {
  package let profile: DumpProfile
  package let keys: DumpKeys
  /// LMDB's limit for the bytes of a key, which can be changed only when LMDB is compiled.
  package static let lmdbKeyLimit = 511

  package init(_ profile: DumpProfile, _ keys: DumpKeys) {
    self.profile = profile
    self.keys = keys
  }

  /// The header of a section.
  ///
  /// - Parameters:
  ///   - name: nil for a database without one.
  ///   - mapSize: only for LMDB.
  /// - Throws: `malformed` if the format has no way to write the name.
  package func header(_ name: String?, mapSize: Int?) throws(StoreError) -> [UInt8] {
    var bytes = Array("VERSION=3\nformat=bytevalue\n".utf8)
    if let name {
      bytes.append(contentsOf: "database=".utf8)
      try append(name: name, to: &bytes)
      bytes.append(contentsOf: "\n".utf8)
    }
    bytes.append(contentsOf: "type=btree\n".utf8)
    if let mapSize { bytes.append(contentsOf: "mapsize=\(mapSize)\n".utf8) }
    bytes.append(contentsOf: "HEADER=END\n".utf8)
    return bytes
  }

  package static let end = Array("DATA=END\n".utf8)

  /// Berkeley DB decodes escapes in a name, LMDB does not.
  private func append(name: String, to bytes: inout [UInt8]) throws(StoreError) {
    let hasControls = name.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    switch profile {
    case .lmdb:
      guard !hasControls else {
        throw Self.unnameable(name, "LMDB")
      }
      bytes.append(contentsOf: name.utf8)
    case .bdb:
      guard !name.utf8.contains(0) else {
        throw Self.unnameable(name, "Berkeley DB")
      }
      for byte in name.utf8 {
        switch byte {
        case 0x5C: bytes.append(contentsOf: [0x5C, 0x5C])
        case 0x20..<0x7F: bytes.append(byte)
        default:
          bytes.append(0x5C)
          unsafe withUnsafeBytes(of: byte) { unsafe bytes.append(hex: $0) }
        }
      }
    }
  }

  private static func unnameable(_ name: String, _ who: String) -> StoreError {
    StoreError(
      .malformed,
      "\(who) cannot name a database \(Key.string(name).literal); dump that keyspace alone, with --unnamed")
  }

  /// The bytes to write for an encoded key.
  /// - Throws: `malformed` for a key that ``keys`` cannot express.
  package func key(
    _ encoded: UnsafeRawBufferPointer, in keyspace: String
  ) throws(StoreError) -> UnsafeRawBufferPointer {
    guard let type = keys.type else { return unsafe encoded }
    guard unsafe encoded.first == type else {
      let literal = (try? Key(validating: unsafe encoded.bytes))?.literal ?? "a key"
      throw StoreError(
        .malformed,
        "\(literal) in \(Key.string(keyspace).literal) is \(keys == .bytes ? "not bytes" : "not a string"); "
          + "--keys encoded accepts any key")
    }
    return unsafe UnsafeRawBufferPointer(rebasing: encoded.dropFirst())
  }

  /// Appends the line of a key or a value.
  package func append(item: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    bytes.append(0x20)
    unsafe bytes.append(hex: item)
    bytes.append(0x0A)
  }
}

extension DumpKeys {
  /// The type byte with which the encoding of every allowed key begins; nil if any key is allowed.
  var type: UInt8? {
    switch self {
    case .encoded: nil
    case .bytes: Key.bytes([]).encoded.first
    case .text: Key.string("").encoded.first
    }
  }
}

import Cairn

/// Queries to a catalogue, all answered from one snapshot.
struct Queries {
  /// One version of a package.
  struct Version: Encodable {
    let version: String
    let architecture: String
    let summary: String
  }

  let snapshot: Snapshot
  let catalogue: CatalogueStore

  func versions(of name: String) throws -> [Version] {
    var versions: [Version] = []
    try catalogue.packages.scan(.prefix([name]), at: snapshot) { key, value, _ in
      guard case .tuple(let parts) = try Key(encoded: key), parts.count == 3,
        case .string(let architecture) = parts[1], case .string(let version) = parts[2]
      else { return .next }
      let summary = try Self.summary(value)
      versions.append(Version(version: version, architecture: architecture, summary: summary))
      return .next
    }
    return versions
  }

  /// The names of the packages that depend on a package, in order.
  func dependents(of name: String) throws -> [String] {
    var names: [String] = []
    try catalogue.dependents.scan(.prefix([name]), at: snapshot) { key, _, _ in
      if case .tuple(let parts) = try Key(encoded: key), case .string(let dependent) = parts.last {
        names.append(dependent)
      }
      return .next
    }
    return names
  }

  /// The names that begin with a prefix, each once.
  func names(withPrefix prefix: String) throws -> [String] {
    var names: [String] = []
    try catalogue.packages.scan(Self.range(ofNamesWithPrefix: prefix), at: snapshot) { key, _, _ in
      if case .tuple(let parts) = try Key(encoded: key), case .string(let name) = parts.first, name != names.last {
        names.append(name)
      }
      return .next
    }
    return names
  }

  /// The range of tuples whose first element is a string with this prefix. The upper bound is the prefix with its last
  /// character, or the last one that has a successor, replaced by that successor; there is none if no character has.
  static func range(ofNamesWithPrefix prefix: String) -> KeyRange {
    var next = prefix.unicodeScalars
    while let last = next.popLast() {
      // The numbers between U+D7FF and U+E000 are no characters.
      guard let greater = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
      next.append(greater)
      return KeyRange(from: [prefix], to: [String(next)])
    }
    return .from([prefix])
  }

  private static func summary(_ stanza: RawSpan) throws -> String {
    var summary = ""
    var parser = StanzaParser(file: "the store")
    let bytes = Span<UInt8>(_bytes: stanza)
    func take(_ stanza: Stanza) {
      summary = stanza.summary ?? ""
    }
    try parser.parse(bytes, take)
    try parser.finish(take)
    return summary
  }
}

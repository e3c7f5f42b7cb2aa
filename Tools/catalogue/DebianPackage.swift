/// The description of one package in a stanza.
struct DebianPackage {
  let name: String
  let version: String
  let architecture: String
  /// The packages that it depends on, each named once.
  let dependencies: [Dependency]

  /// Reads a stanza; errors name `file`.
  init(_ stanza: Stanza, file: String) throws(StanzaError) {
    func field(_ name: String) throws(StanzaError) -> String {
      guard let value = stanza[name], !value.isEmpty else {
        throw StanzaError(file: file, line: stanza.line, problem: .missingField(name))
      }
      return value
    }
    name = try field("Package")
    guard Dependency.isPackageName(name[...].utf8) else {
      throw StanzaError(file: file, line: stanza.line, problem: .badValue(field: "Package", name))
    }
    version = try field("Version")
    architecture = try field("Architecture")
    dependencies = try Dependency.all(of: stanza, file: file)
  }
}

/// An edge from a package to one that it depends on.
struct Dependency: Hashable {
  let target: String
  /// The text of the field about the target, such as `Depends: libc6 (>= 2.34)` or `Depends: mta | exim4`; one line for
  /// each group.
  private(set) var relation: String

  /// The edges of `Depends` and `Pre-Depends`. Alternatives give one edge each, with the same relation; a target that
  /// is named more than once gives one edge with all its relations.
  static func all(of stanza: Stanza, file: String) throws(StanzaError) -> [Dependency] {
    var edges: [Dependency] = []
    var positions: [String: Int] = [:]
    for field in ["Depends", "Pre-Depends"] {
      guard let value = stanza[field] else { continue }
      for group in value.utf8.split(separator: UInt8(ascii: ",")) {
        let words = group.trimmed
        guard !words.isEmpty else { continue }
        let relation = "\(field): \(Substring(words))"
        for alternative in words.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false) {
          let target = name(in: alternative)
          guard isPackageName(target) else {
            throw StanzaError(file: file, line: stanza.line, problem: .badValue(field: field, String(Substring(words))))
          }
          let edge = Dependency(target: String(Substring(target)), relation: relation)
          if let position = positions[edge.target] {
            edges[position].add(relation)
          } else {
            positions[edge.target] = edges.count
            edges.append(edge)
          }
        }
      }
    }
    return edges
  }

  private mutating func add(_ other: String) {
    guard !relation.hasSuffix(other) else { return }
    relation += "\n\(other)"
  }

  static func isPackageName(_ text: Substring.UTF8View) -> Bool {
    guard let first = text.first, first.isAlphanumeric else { return false }
    return text.allSatisfy { $0.isAlphanumeric || "+-._".utf8.contains($0) }
  }

  /// The package name of an alternative: `perl` of `perl:any (>= 5.36) [amd64]`.
  private static func name(in alternative: Substring.UTF8View) -> Substring.UTF8View {
    alternative.trimmed.prefix { !$0.isWhiteSpace && !"([<:".utf8.contains($0) }
  }
}

extension Substring.UTF8View {
  /// Without the white space at both ends.
  var trimmed: Self {
    var text = self
    while let first = text.first, first.isWhiteSpace { text.removeFirst() }
    while let last = text.last, last.isWhiteSpace { text.removeLast() }
    return text
  }
}

extension UInt8 {
  fileprivate var isAlphanumeric: Bool {
    (0x30...0x39).contains(self) || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self)
  }
}

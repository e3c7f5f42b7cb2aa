package import Cairn

/// Counts rows and writes by the prefixes of their keys.
///
/// The prefix of a tuple is its first element; of a string, the part up to and including its first character that is
/// neither a letter nor a digit, or its first three characters; of bytes, the first two; of an integer, its thousand.
/// Keeps at most a fixed number of prefixes: when there are more, it drops the rarest, and a dropped prefix that
/// returns is counted from its return on.
package struct PrefixTally: Sendable {
  package struct Entry: Sendable, Hashable {
    /// The beginning of a literal, or a name.
    package let prefix: String
    package internal(set) var rows = 0
    package internal(set) var bytes = 0
    /// Records in the log, superseded ones included.
    package internal(set) var writes = 0
  }

  private static let capacity = 1 << 16

  private var entries: [String: Entry] = [:]
  /// Whether prefixes have been dropped.
  package private(set) var isApproximate = false

  private let name: @Sendable (Key) -> String?

  /// `name` names the prefix of a key; nil if it has no name.
  package init(name: @escaping @Sendable (Key) -> String? = { _ in nil }) { self.name = name }

  package mutating func add(row key: Key, bytes: Int) {
    with(prefix(of: key)) {
      $0.rows += 1
      $0.bytes += bytes
    }
  }

  package mutating func add(writeOf key: Key) { with(prefix(of: key)) { $0.writes += 1 } }

  private mutating func with(_ prefix: String, _ change: (inout Entry) -> Void) {
    change(&entries[prefix, default: Entry(prefix: prefix)])
    guard entries.count > Self.capacity else { return }
    isApproximate = true
    let kept = entries.values.sorted { ($0.writes + $0.rows, $1.prefix) > ($1.writes + $1.rows, $0.prefix) }
    entries = Dictionary(uniqueKeysWithValues: kept.prefix(Self.capacity / 2).map { ($0.prefix, $0) })
  }

  /// The entries with the most writes, then rows.
  package func hottest(_ count: Int) -> [Entry] {
    let sorted = entries.values.sorted {
      ($0.writes, $0.rows, $1.prefix) > ($1.writes, $1.rows, $0.prefix)
    }
    return Array(sorted.prefix(count))
  }

  private func prefix(of key: Key) -> String { name(key) ?? Self.beginning(of: key) }

  private static func beginning(of key: Key) -> String {
    switch key {
    case .integer(let value):
      let remainder = value % 1000
      let (floor, isBeforeBeginning) = value.subtractingReportingOverflow(remainder < 0 ? remainder + 1000 : remainder)
      guard !isBeforeBeginning else { return "\(Int64.min) …" }
      // The last thousand at either end is not a whole one.
      let (last, isPastEnd) = floor.addingReportingOverflow(999)
      return "\(floor) … \(isPastEnd ? Int64.max : last)"
    case .string(let text):
      var beginning = String.UnicodeScalarView()
      for scalar in text.unicodeScalars.prefix(24) {
        beginning.append(scalar)
        if !(scalar.properties.isAlphabetic || scalar.properties.numericType != nil) {
          return Key.string(String(beginning)).literal + " …"
        }
      }
      return Key.string(String(text.prefix(3))).literal + " …"
    case .double: return "floating-point numbers"
    case .uuid: return "UUIDs"
    case .bytes(let bytes): return Key.bytes(Array(bytes.prefix(2))).literal + " …"
    case .tuple(let elements):
      guard let first = elements.first else { return "()" }
      let literal = first.literal
      return "(\(literal.count > 40 ? String(literal.prefix(40)) + "…" : literal), …)"
    }
  }
}

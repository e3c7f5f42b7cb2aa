import Cairn

/// The operations of one thread of a busy process, one after the other. The same seed gives the same operations, so
/// that the last operation's number tells what the thread must have left.
struct Plan {
  enum Role: Int, CaseIterable {
    /// Two threads write batches to rows of their own in one keyspace.
    case rows, otherRows
    /// Rows whose older versions are kept; how many are kept changes.
    case history
    /// A keyspace that is dropped and made again under the same name.
    case passing
  }

  enum Operation {
    /// Keys, and whether each is put or deleted.
    case write([(key: Int, isPut: Bool)])
    case retain(Int)
    case drop
  }

  let seed: UInt64
  let role: Role

  var keyspaceName: String {
    switch role {
    case .rows, .otherRows: "rows"
    case .history: "history"
    case .passing: "passing"
    }
  }

  var order: Keyspace.Order { role == .history ? .unordered : .ordered }

  func key(_ key: Int) -> Key { [.integer(Int64(role.rawValue)), .integer(Int64(key))] }

  private func random(_ number: Int, _ salt: UInt64) -> UInt64 {
    var word = seed &+ UInt64(role.rawValue) << 56 &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15 &+ salt << 32
    for factor in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB] as [UInt64] {
      word = (word ^ word >> 30) &* factor
    }
    return word ^ word >> 31
  }

  func operation(_ number: Int) -> Operation {
    let word = random(number, 1)
    switch role {
    case .rows, .otherRows:
      let count = 1 + Int(word & 3)
      return .write((0..<count).map { change(random(number, 2 + UInt64($0)), keys: 300) })
    case .history:
      return word % 500 == 0 ? .retain(1 + Int(word >> 32 & 3)) : .write([change(word >> 16, keys: 40)])
    case .passing: return word % 200 == 0 ? .drop : .write([change(word >> 16, keys: 60)])
    }
  }

  private func change(_ word: UInt64, keys: Int) -> (key: Int, isPut: Bool) {
    (Int(word % UInt64(keys)), word >> 32 & 3 > 0)
  }

  func durability(_ number: Int) -> Durability { random(number, 9) % 64 == 0 ? .durable : .buffered }

  /// Values are similar enough for a dictionary, and no two are equal; some fill a good part of a segment.
  func value(_ key: Int, _ number: Int) -> [UInt8] {
    let text = "\(role), key \(key), written by operation \(number); "
    let word = random(number, 10)
    let count = word % 300 == 0 ? 400 : 1 + Int(word % 5)
    return Array(String(repeating: text, count: count).utf8)
  }
}

/// What a thread must have left in the store.
struct Outcome {
  /// By key, the operations that wrote the retained versions, newest first. `isPut` is false for a deletion.
  private(set) var versions: [Int: [(number: Int, isPut: Bool)]] = [:]
  private(set) var retention = 1

  mutating func apply(_ operation: Plan.Operation, _ number: Int) {
    switch operation {
    case .write(let changes):
      // If an operation changes a key twice, the last change counts.
      for (position, change) in changes.enumerated()
      where !changes[(position + 1)...].contains(where: { $0.key == change.key }) {
        let hasRow = versions[change.key]?.first?.isPut ?? false
        guard change.isPut || hasRow else { continue }
        versions[change.key, default: []].insert((number, change.isPut), at: 0)
        prune(change.key)
      }
    case .retain(let count):
      retention = count
      for key in versions.keys { prune(key) }
    case .drop:
      versions = [:]
      retention = 1
    }
  }

  private mutating func prune(_ key: Int) {
    guard var kept = versions[key] else { return }
    kept.removeLast(max(0, kept.count - retention))
    versions[key] = kept.count == 1 && !kept[0].isPut ? nil : kept
  }

  /// Returns nil if the store holds exactly this, otherwise a description of the difference.
  func difference(_ store: Store, _ plan: Plan) throws -> String? {
    try store.read { snapshot in
      let keyspace = try store.keyspace(plan.keyspaceName, order: plan.order)
      let owner = Key.integer(Int64(plan.role.rawValue))
      var found = 0
      for row in try keyspace.rows(at: snapshot) {
        guard case .tuple(let parts) = row.key, parts.count == 2, parts[0] == owner,
          case .integer(let key) = parts[1]
        else { continue }
        found += 1
        guard let newest = versions[Int(key)]?.first, newest.isPut else { return "key \(key) is there" }
        if row.value != plan.value(Int(key), newest.number) {
          return "key \(key) is \(String(decoding: row.value.prefix(60), as: UTF8.self)), not of \(newest.number)"
        }
      }
      let expected = versions.values.count { $0[0].isPut }
      if found != expected { return "\(found) rows, not \(expected)" }
      for (key, kept) in versions where retention > 1 {
        let history = try keyspace.history(of: plan.key(key), at: snapshot)
        let wanted = kept.map { $0.isPut ? plan.value(key, $0.number) : nil }
        if history.map(\.value) != wanted {
          return "\(history.count) versions of key \(key), not \(kept.count), or others"
        }
      }
      let present = store.keyspaces.first { $0.name == plan.keyspaceName }?.retention.count ?? 1
      return present == retention || plan.role != .history ? nil : "\(present) versions are kept, not \(retention)"
    }
  }
}

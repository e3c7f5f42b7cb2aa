import Foundation
import RemoteIncrementalStore

/// The objects of a service that tracks bugs, and what was done to them.
struct ServiceState: Sendable {
  /// An object of the service.
  struct Thing: Hashable, Sendable {
    var values: [String: RemoteValue]
    /// The tags of a bug.
    var tags: Set<RemoteIdentifier> = []
    var version = 0
    /// How many objects there had been before.
    var place = 0
  }

  /// A change that was made.
  struct Applied: Sendable {
    var change: RemoteChange
    var identifier: RemoteIdentifier
    /// The version of the object that it has made.
    var version: Int
    /// How often it changed something; more than once is an error of the service or of the client.
    var count = 1
  }

  static let entities = ["Bug", "Tag", "User"]
  static let attributes = [
    "Bug": ["title", "state", "priority", "token", "serial"], "Tag": ["name", "token"], "User": ["name", "token"],
  ]

  let options: ServiceOptions
  /// How long lists stay fresh, as their pages say.
  var freshFor: Duration?
  /// The title in changes that are made, and of which the answer says that nobody knows that.
  var lostTitle: RemoteValue?
  private(set) var things: [RemoteIdentifier: Thing] = [:]
  private(set) var graves: Set<RemoteIdentifier> = []
  private(set) var applied: [UUID: Applied] = [:]
  /// What a client did wrong.
  private(set) var violations: [String] = []
  /// Every value that a property of an object has had, by the token of the object.
  private(set) var history: [String: [String: Set<RemoteValue>]] = [:]
  /// The tokens of objects, changes of which were answered with a conflict, a refusal, or that they do not exist.
  private(set) var contested: Set<String> = []
  /// The objects changed, in the order of the changes.
  private(set) var log: [RemoteIdentifier] = []
  private var tokens: [RemoteIdentifier: String] = [:]
  private var lastNumber = 0
  private var lastVersion = 0
  private var listVersions: [String: Int] = [:]

  init(_ options: ServiceOptions) { self.options = options }

  // MARK: Reading

  func identifiers(of entity: String) -> [RemoteIdentifier] {
    things.keys.filter { $0.entityName == entity }.sorted(by: Self.precedes)
  }

  static func precedes(_ one: RemoteIdentifier, _ other: RemoteIdentifier) -> Bool {
    (one.entityName, one.value.count, one.value) < (other.entityName, other.value.count, other.value)
  }

  func tag(of thing: Thing) -> String? { options.tagsObjects ? "v\(thing.version)" : nil }

  func listTag(of entity: String) -> String? {
    options.tagsLists ? "list \(entity) \(listVersions[entity] ?? 0)" : nil
  }

  func record(_ identifier: RemoteIdentifier, _ listed: ServiceOptions.Listed = .whole) -> RemoteRecord? {
    guard let thing = things[identifier] else { return nil }
    var record = RemoteRecord(identifier, tag: listed == .identifiers ? nil : tag(of: thing))
    switch listed {
    case .identifiers: break
    case .parts: record.values = thing.values.filter { ["title", "state", "token"].contains($0.key) }
    case .whole:
      record.values = thing.values
      if identifier.entityName == "Bug" { record.members["tags"] = .all(thing.tags.sorted(by: Self.precedes)) }
    }
    return record
  }

  func members(of relationship: String, of owner: RemoteIdentifier) -> [RemoteIdentifier] {
    let members: [RemoteIdentifier] =
      switch relationship {
      case "tags": Array(things[owner]?.tags ?? [])
      case "bugs": things.filter { $0.value.tags.contains(owner) }.map(\.key)
      case "assigned": things.filter { $0.value.values["assignee"] == .object(owner) }.map(\.key)
      default: []
      }
    return members.sorted(by: Self.precedes)
  }

  /// The token of an object, also of one that was deleted.
  func token(of identifier: RemoteIdentifier) -> String? { tokens[identifier] }

  func identifiers(withToken token: String) -> [RemoteIdentifier] {
    things.filter { $0.value.values["token"] == .string(token) }.map(\.key)
  }

  // MARK: Changing

  @discardableResult
  mutating func insert(
    _ entity: String, _ values: [String: RemoteValue], tags: [RemoteIdentifier] = [], as chosen: String? = nil
  ) -> RemoteIdentifier {
    lastNumber += 1
    let identifier = RemoteIdentifier(entity, chosen ?? "\(lastNumber)")
    var all = values
    for attribute in Self.attributes[entity] ?? [] where all[attribute] == nil { all[attribute] = .null }
    if all["token"] == .null { all["token"] = .string("service \(identifier)") }
    if entity == "Bug" {
      all["serial"] = .integer(Int64(lastNumber))
      if all["assignee"] == nil { all["assignee"] = .null }
    }
    things[identifier] = Thing(values: all)
    things[identifier]?.place = lastNumber
    things[identifier]?.tags = Set(tags)
    if case .string(let token) = all["token"] { tokens[identifier] = token }
    touch(identifier)
    return identifier
  }

  mutating func update(_ identifier: RemoteIdentifier, _ values: [String: RemoteValue]) {
    guard things[identifier] != nil else { return }
    things[identifier]?.values.merge(values) { $1 }
    touch(identifier)
  }

  mutating func setTags(_ tags: Set<RemoteIdentifier>, of bug: RemoteIdentifier) {
    guard let thing = things[bug], thing.tags != tags else { return }
    things[bug]?.tags = tags
    touch(bug)
  }

  mutating func delete(_ identifier: RemoteIdentifier) {
    guard things.removeValue(forKey: identifier) != nil else { return }
    graves.insert(identifier)
    log.append(identifier)
    listVersions[identifier.entityName, default: 0] += 1
    for (other, thing) in things {
      if thing.values["assignee"] == .object(identifier) { update(other, ["assignee": .null]) }
      if thing.tags.contains(identifier) { setTags(thing.tags.subtracting([identifier]), of: other) }
    }
  }

  /// Notes that an object has changed.
  private mutating func touch(_ identifier: RemoteIdentifier) {
    lastVersion += 1
    things[identifier]?.version = lastVersion
    log.append(identifier)
    listVersions[identifier.entityName, default: 0] += 1
    guard let thing = things[identifier], let token = token(of: identifier) else { return }
    for (name, value) in thing.values { history[token, default: [:]][name, default: []].insert(value) }
  }

  // MARK: Changes of clients

  mutating func apply(_ change: RemoteChange) -> RemoteOutcome {
    if let earlier = applied[change.key] {
      if !Self.repeats(change, earlier.change), !Self.repeats(earlier.change, change) {
        violations.append("two changes with one key: \(earlier.change) and \(change)")
      }
      switch options.repeating {
      case .keys: return answer(change, earlier.identifier)
      case .clientIdentifiers: break
      case .finding:
        if change.kind == .insert && things[earlier.identifier] != nil {
          violations.append("sent again although it would have been found: \(change)")
        }
      case .nothing: violations.append("sent again although the service offers nothing: \(change)")
      }
    }
    let outcome =
      switch change.kind {
      case .insert: insertion(change)
      case .update, .delete: update(change)
      }
    switch outcome {
    case .conflict, .gone, .refused: contest(change)
    case .accepted, .later, .lost: break
    }
    return outcome
  }

  /// Allows that changes are sent again although they may have been made, since the application wants it.
  mutating func forgetUnknown() { if options.repeating == .nothing { applied = [:] } }

  private mutating func insertion(_ change: RemoteChange) -> RemoteOutcome {
    if options.repeating == .clientIdentifiers {
      guard let identifier = change.identifier else { return violation("without an identifier", change) }
      if things[identifier] != nil { return answer(change, identifier) }
      if graves.contains(identifier) { return .gone }
    } else if change.identifier != nil {
      return violation("with an identifier", change)
    }
    guard let (values, added) = checked(change) else { return .refused("forbidden") }
    let identifier = insert(
      change.entityName, values, tags: added["tags"] ?? [],
      as: options.repeating == .clientIdentifiers ? change.identifier?.value : nil)
    for bug in added["bugs"] ?? [] { setTags((things[bug]?.tags ?? []).union([identifier]), of: bug) }
    note(change, identifier)
    return answer(change, identifier)
  }

  private mutating func update(_ change: RemoteChange) -> RemoteOutcome {
    guard let identifier = change.identifier else { return violation("without an identifier", change) }
    guard let thing = things[identifier] else { return .gone }
    if let tag = change.tag, options.tagsObjects, tag != self.tag(of: thing) {
      return .conflict(options.conflictsHaveRecords ? record(identifier) : nil)
    }
    if change.kind == .delete {
      note(change, identifier)
      delete(identifier)
      return .accepted(nil)
    }
    guard let (values, added) = checked(change) else { return .refused("forbidden") }
    if !values.isEmpty { update(identifier, values) }
    let removed = change.removed.mapValues(Set.init)
    if identifier.entityName == "Bug" {
      setTags(thing.tags.union(added["tags"] ?? []).subtracting(removed["tags"] ?? []), of: identifier)
    }
    for bug in added["bugs"] ?? [] { setTags((things[bug]?.tags ?? []).union([identifier]), of: bug) }
    for bug in removed["bugs"] ?? [] { setTags((things[bug]?.tags ?? []).subtracting([identifier]), of: bug) }
    note(change, identifier)
    return answer(change, identifier)
  }

  /// The values and new members of a change, without those that the service leaves out; nil if it refuses the change.
  private func checked(_ change: RemoteChange) -> ([String: RemoteValue], [String: [RemoteIdentifier]])? {
    var (values, added) = (change.values, change.added)
    if case .string(let title) = values["title"], title.contains("forbidden") { return nil }
    if case .object(let other) = values["assignee"], things[other] == nil {
      if options.refusesLooseEnds { return nil }
      values["assignee"] = .null
    }
    for (name, members) in added where members.contains(where: { things[$0] == nil }) {
      if options.refusesLooseEnds { return nil }
      added[name] = members.filter { things[$0] != nil }
    }
    if change.kind == .update { values["serial"] = nil }
    return (values, added)
  }

  private mutating func note(_ change: RemoteChange, _ identifier: RemoteIdentifier) {
    if applied[change.key] != nil {
      applied[change.key]?.count += 1
    } else {
      applied[change.key] = Applied(change: change, identifier: identifier, version: things[identifier]?.version ?? 0)
    }
    // A value counts as had even if the service did not take it: what becomes of a reference is the service's decision.
    guard let token = token(of: identifier) else { return }
    for (name, value) in change.values { history[token, default: [:]][name, default: []].insert(value) }
  }

  private mutating func violation(_ what: String, _ change: RemoteChange) -> RemoteOutcome {
    violations.append("\(what): \(change)")
    return .refused("not a request")
  }

  private mutating func contest(_ change: RemoteChange) {
    if case .string(let token) = change.values["token"] { contested.insert(token) }
    if let identifier = change.identifier, let token = token(of: identifier) { contested.insert(token) }
  }

  private func answer(_ change: RemoteChange, _ identifier: RemoteIdentifier) -> RemoteOutcome {
    if change.kind == .delete { return .accepted(nil) }
    guard let whole = record(identifier) else { return .gone }
    // A version without values says that the service has what the client has, with exactly this change.
    let isExact =
      change.kind == .update && change.tag != nil && change.values.allSatisfy { whole.values[$0] == $1 }
      && applied[change.key]?.version == things[identifier]?.version
    let kinds = options.answers
    switch kinds[Int(change.key.uuid.15) % kinds.count] {
    case .whole: return .accepted(whole)
    case .nothing where change.kind == .update: return .accepted(nil)
    case .nothing, .identifier: return .accepted(RemoteRecord(identifier, tag: isExact ? whole.tag : nil))
    }
  }

  /// Whether a change repeats another one. An object that was deleted meanwhile may be missing in it.
  private static func repeats(_ change: RemoteChange, _ earlier: RemoteChange) -> Bool {
    func isPart(_ one: [String: [RemoteIdentifier]], _ other: [String: [RemoteIdentifier]]) -> Bool {
      one.allSatisfy { Set($1).isSubset(of: other[$0] ?? []) }
    }
    return change.kind == earlier.kind && change.entityName == earlier.entityName
      && change.values.allSatisfy { earlier.values[$0] == $1 }
      && isPart(change.added, earlier.added) && isPart(change.removed, earlier.removed)
  }
}

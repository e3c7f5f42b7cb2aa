import Foundation
import IncrementalStore
import OpenCoreData
import RowFormat

/// The changes in the outbox, and which of them can be sent now.
struct Outbox {
  struct Entry {
    let number: UInt64
    var change: OutboxRow
    let map: EntityMap
    /// The objects that the change refers to, besides its own.
    let references: Set<ObjectReference>
  }

  private let rows: RemoteRows
  let entries: [Entry]
  private let insertions: [ObjectReference: UInt64]

  init(_ rows: RemoteRows) throws {
    self.rows = rows
    let values = RowValues(rows)
    entries = try rows.changes().compactMap { number, change in
      guard let map = rows.access.schema[change.object.entity] else { return nil }
      var references = Set(try values.references(in: change.values, map))
      for members in change.members { references.formUnion(members.added + members.removed) }
      references.remove(change.object)
      return Entry(number: number, change: change, map: map, references: references)
    }
    var insertions: [ObjectReference: UInt64] = [:]
    for entry in entries where entry.change.kind == .insert { insertions[entry.change.object] = entry.number }
    self.insertions = insertions
  }

  /// The first changes that can be sent in one request: they depend on nothing that has not been accepted.
  ///
  /// - Parameters:
  ///   - now: Changes that are to wait longer are left out; nil to leave out none.
  ///   - tried: The keys of changes to leave out.
  func next(atMost count: Int, now: Double?, except tried: Set<UInt128>) throws -> [Entry] {
    var chosen: [Entry] = []
    var concerned: Set<ObjectReference> = []
    var earlier: Set<ObjectReference> = []
    for entry in entries where chosen.count < count {
      let object = entry.change.object
      defer { earlier.insert(object) }
      guard isDue(entry, now, tried), !earlier.contains(object), try !isBlocked(entry),
        concerned.isDisjoint(with: entry.references.union([object]))
      else { continue }
      concerned.formUnion(entry.references)
      concerned.insert(object)
      chosen.append(entry)
    }
    if chosen.isEmpty, let inCycle = firstInCycle(now, tried) { return [inCycle] }
    return chosen
  }

  private func isDue(_ entry: Entry, _ now: Double?, _ tried: Set<UInt128>) -> Bool {
    (entry.change.state == .waiting || entry.change.state == .sent) && !tried.contains(entry.change.key)
      && now.map { entry.change.earliest <= $0 } ?? true
  }

  private func isBlocked(_ entry: Entry) throws -> Bool {
    // Objects have to be made before others refer to them.
    if entry.references.contains(where: { insertions[$0] != nil }) { return true }
    // Nothing that waits may refer to an object that is deleted.
    guard entry.change.kind == .delete else { return false }
    let values = RowValues(rows)
    return try entries.contains { other in
      guard other.number != entry.number, other.change.object != entry.change.object else { return false }
      return try other.references.contains(entry.change.object)
        || values.references(in: other.change.base, other.map).contains(entry.change.object)
          && other.change.kind != .delete
    }
  }

  /// New objects may refer to each other. Then one of them is sent without these references.
  private func firstInCycle(_ now: Double?, _ tried: Set<UInt128>) -> Entry? {
    let waiting = entries.filter { $0.change.kind == .insert && isDue($0, now, tried) }
    let byObject = Dictionary(waiting.map { ($0.change.object, $0) }) { first, _ in first }
    return waiting.first { start in
      var (reached, rest) = (Set<ObjectReference>(), Array(start.references))
      while let object = rest.popLast() {
        if object == start.change.object { return true }
        guard reached.insert(object).inserted else { continue }
        guard let next = byObject[object] else {
          // It refers to something that cannot be sent.
          if insertions[object] != nil { return false }
          continue
        }
        rest += next.references
      }
      return false
    }
  }

  /// A change as the service gets it.
  func sent(_ entry: Entry) throws -> RemoteChange {
    let values = RowValues(rows)
    let change = entry.change
    func names(_ members: (OutboxRow.Members) -> [ObjectReference]) throws -> [String: [RemoteIdentifier]] {
      var all: [String: [RemoteIdentifier]] = [:]
      for relationship in change.members {
        guard let name = entry.map.sets.first(where: { $0.end.number == relationship.relationship })?.name else {
          continue
        }
        let identifiers = try members(relationship).compactMap { try rows.identifier(of: $0) }
        if !identifiers.isEmpty { all[name] = identifiers }
      }
      return all
    }
    let origin = try rows.origin(of: change.object)
    let name = entry.map.entity.name ?? ""
    return RemoteChange(
      RemoteChange.Kind(change.kind), entityName: name,
      identifier: origin?.identifier.map { RemoteIdentifier(name, $0) }, key: UUID(change.uuid),
      attempts: Int(clamping: change.attempts), tag: origin?.tag,
      values: change.kind == .delete ? [:] : try values.values(of: change.values, entry.map),
      base: change.kind == .insert ? [:] : try values.values(of: change.base, entry.map), added: try names(\.added),
      removed: try names(\.removed))
  }
}

extension RemoteChange.Kind {
  init(_ kind: OutboxRow.Kind) {
    self =
      switch kind {
      case .insert: .insert
      case .update: .update
      case .delete: .delete
      }
  }
}

extension UUID {
  /// - Parameter number: The first byte is the most significant.
  fileprivate init(_ number: UInt128) {
    self = unsafe withUnsafeBytes(of: number.bigEndian) { unsafe UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

import Foundation
import IncrementalStore
import OpenCoreData
import RowFormat

/// Adds the changes of a save to the outbox, in the batch of the save.
///
/// Changes of an object that were never sent are combined into one.
struct OutboxRecorder {
  private let rows: RemoteRows
  private let service: any RemoteService
  private let account: String
  private var additions = RowAdditions()
  /// Whether a relationship is ordered, by the numbers of those whose members the outbox has.
  private let toldSets: [UInt32: Bool]

  init(_ rows: RemoteRows, _ service: any RemoteService, account: String) {
    (self.rows, self.service, self.account) = (rows, service, account)
    toldSets = rows.access.toldSets
  }

  mutating func additions(to changed: [ChangedRow], _ entries: EntryDifference) throws -> RowAdditions {
    var head = try rows.head() ?? RemoteHead(account: account)
    let before = head
    let members = try memberChanges(entries)
    for row in changed { try record(row, members[row.object.reference] ?? [], &head) }
    if head != before { additions.put(head.bytes, at: StoreHead.remoteReference, in: StoreHead.table) }
    return additions
  }

  private mutating func record(
    _ row: ChangedRow, _ members: [OutboxRow.Members], _ head: inout RemoteHead
  ) throws {
    guard let map = rows.access.schema[row.object.entity], let change = try change(row, members) else { return }
    var origin = try rows.origin(of: row.object) ?? OriginRow(entity: map.number)
    if change.kind == .insert { try name(row.object, map, change, &origin) }
    if let number = origin.changes.last, let last = try rows.change(number), last.isOpen {
      if let combined = try last.combined(with: change) {
        additions.put(combined.bytes, at: .integer(Int64(number)), in: OutboxRow.table)
      } else {
        additions.delete(.integer(Int64(number)), in: OutboxRow.table)
        origin.changes.removeLast()
      }
    } else {
      origin.changes.append(head.nextChange)
      additions.put(change.bytes, at: .integer(Int64(head.nextChange)), in: OutboxRow.table)
      head.nextChange += 1
    }
    let isForgotten = row.bytes == nil && !origin.isWaiting
    if isForgotten {
      additions.delete(row.object.reference, in: OriginRow.table)
      if let identifier = origin.identifier {
        additions.remove(entry: Entry.remote(identifier, row.object))
      }
    } else {
      additions.put(origin.bytes, at: row.object.reference, in: OriginRow.table)
    }
  }

  /// Gives a new object its identifier, if the service lets clients choose it.
  private mutating func name(
    _ object: ObjectReference, _ map: EntityMap, _ change: OutboxRow, _ origin: inout OriginRow
  ) throws {
    let values = try RowValues(rows).values(of: change.values, map)
    guard let name = map.entity.name, let identifier = service.identifier(forNew: name, values: values),
      try rows.object(RemoteIdentifier(name, identifier)) == nil
    else { return }
    origin.identifier = identifier
    additions.add(entry: Entry.remote(identifier, object))
  }

  // MARK: One change

  /// Nil if nothing was changed that a service needs to know.
  private func change(_ row: ChangedRow, _ members: [OutboxRow.Members]) throws -> OutboxRow? {
    let key = UInt128.random(in: .min ... .max)
    guard let bytes = row.bytes else {
      return OutboxRow(.delete, row.object, key: key, base: row.stored ?? Self.none, values: Self.none)
    }
    guard let stored = row.stored else {
      var change = OutboxRow(.insert, row.object, key: key, base: Self.none, values: bytes)
      change.members = members
      return change
    }
    let (base, values) = try Self.difference(stored, bytes)
    guard values != Self.none || !members.isEmpty else { return nil }
    var change = OutboxRow(.update, row.object, key: key, base: base, values: values)
    change.members = members
    return change
  }

  static let none = FieldWriter().bytes

  /// The fields in which two rows differ, of either row.
  private static func difference(_ old: [UInt8], _ new: [UInt8]) throws -> (base: [UInt8], values: [UInt8]) {
    var (base, values) = (FieldWriter(), FieldWriter())
    try StoreFailure.reading("A row") {
      var fields = try FieldReader(new)
      while let (number, field) = try fields.next() {
        if let former = try FieldReader.field(number, of: old) {
          guard former.type != field.type || old[former.range] != new[field.range] else { continue }
          base.copy(number, former, of: old)
        }
        values.copy(number, field, of: new)
      }
    }
    return (base.bytes, values.bytes)
  }

  // MARK: Members

  /// The changed members of those to-many relationships of which no to-one relationship tells it, by owner. If both
  /// ends are to-many, the one with the lower number tells.
  private func memberChanges(_ entries: EntryDifference) throws -> [RowReference: [OutboxRow.Members]] {
    var found: [RowReference: [UInt32: OutboxRow.Members]] = [:]
    func note(_ entries: [[UInt8]], _ add: (inout OutboxRow.Members, ObjectReference) -> Void) throws {
      for entry in entries {
        guard let (owner, member, number) = try membership(in: entry) else { continue }
        var change =
          found[owner]?[number] ?? OutboxRow.Members(relationship: number, added: [], removed: [])
        add(&change, member)
        found[owner, default: [:]][number] = change
      }
    }
    guard !toldSets.isEmpty else { return [:] }
    try note(entries.removed) { $0.removed.append($1) }
    try note(entries.added) { $0.added.append($1) }
    return found.mapValues { changes in
      changes.values.compactMap { change in
        // A member that has only changed its position is in both.
        let (added, removed) = (Set(change.added), Set(change.removed))
        let rest = OutboxRow.Members(
          relationship: change.relationship, added: change.added.filter { !removed.contains($0) },
          removed: change.removed.filter { !added.contains($0) })
        return rest.added.isEmpty && rest.removed.isEmpty ? nil : rest
      }.sorted { $0.relationship < $1.relationship }
    }
  }

  private func membership(
    in entry: [UInt8]
  ) throws -> (owner: RowReference, member: ObjectReference, number: UInt32)? {
    try StoreFailure.reading("An entry") {
      var input = ByteInput(entry)
      let number = try input.number()
      guard let isOrdered = toldSets[number] else { return nil }
      let (owner, member) = try Entry.membership(in: entry, isOrdered: isOrdered)
      return (owner, member, number)
    }
  }
}

extension RowAccess {
  /// Whether a relationship is ordered, by the numbers of the to-many relationships whose members no other end tells.
  var toldSets: [UInt32: Bool] {
    var told: [UInt32: Bool] = [:]
    for map in schema.all {
      for set in map.sets {
        switch set.inverse {
        case .toOne: break
        case .none: told[set.end.number] = set.end.isOrdered
        case .toMany(let inverse):
          if set.end.number <= inverse.number { told[set.end.number] = set.end.isOrdered }
        }
      }
    }
    return told
  }
}

extension OutboxRow {
  /// Whether the service has certainly not made the change, and does not know its key with other values.
  fileprivate var isOpen: Bool { state == .waiting && attempts == 0 || state == .refused }

  /// This change and a later one of the same object as one; nil if nothing is left.
  fileprivate func combined(with later: OutboxRow) throws -> OutboxRow? {
    var combined = self
    if state == .refused {
      (combined.state, combined.key, combined.attempts, combined.refusal) = (.waiting, later.key, 0, "")
    }
    switch (kind, later.kind) {
    case (.insert, .delete): return nil
    case (_, .delete):
      combined.kind = .delete
      combined.base = try Self.merged(later.base, with: base)
      (combined.values, combined.members) = (later.values, [])
    default:
      combined.base = try Self.merged(later.base, with: base)
      if kind == .insert { combined.base = base }
      combined.values = try Self.merged(values, with: later.values)
      combined.members = Self.merged(members, later.members)
      let isNothing = kind == .update && combined.members.isEmpty && combined.values == combined.base
      if isNothing { return nil }
    }
    return combined
  }

  /// The fields of a row with those of another one in their places.
  static func merged(_ row: [UInt8], with other: [UInt8]) throws -> [UInt8] {
    var writer = FieldWriter()
    try StoreFailure.reading("A change") {
      var (one, two) = (try FieldReader(row), try FieldReader(other))
      var (left, right) = (try one.next(), try two.next())
      while left != nil || right != nil {
        let (leftNumber, rightNumber) = (left?.number ?? .max, right?.number ?? .max)
        if let right, rightNumber <= leftNumber {
          writer.copy(rightNumber, right.field, of: other)
        } else if let left {
          writer.copy(leftNumber, left.field, of: row)
        }
        if leftNumber <= rightNumber { left = try one.next() }
        if rightNumber <= leftNumber { right = try two.next() }
      }
    }
    return writer.bytes
  }

  private static func merged(_ first: [Members], _ then: [Members]) -> [Members] {
    var all = Dictionary(first.map { ($0.relationship, $0) }) { $1 }
    for change in then {
      var known = all[change.relationship] ?? Members(relationship: change.relationship, added: [], removed: [])
      for member in change.added {
        if let place = known.removed.firstIndex(of: member) {
          known.removed.remove(at: place)
        } else {
          known.added.append(member)
        }
      }
      for member in change.removed {
        if let place = known.added.firstIndex(of: member) {
          known.added.remove(at: place)
        } else {
          known.removed.append(member)
        }
      }
      all[change.relationship] = known
    }
    return all.values.filter { !$0.added.isEmpty || !$0.removed.isEmpty }.sorted { $0.relationship < $1.relationship }
  }
}

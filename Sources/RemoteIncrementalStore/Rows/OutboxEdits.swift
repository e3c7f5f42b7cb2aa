import IncrementalStore
import OpenCoreData
import RowFormat

/// The changes in the outbox as a plan leaves them.
struct OutboxEdits {
  private let rows: RemoteRows
  /// The changes that the plan has edited; nil for those that it has removed.
  private var edited: [UInt64: OutboxRow?] = [:]
  /// The changes that refer to an object, besides those of the object itself; nil until somebody has asked.
  private var referring: [ObjectReference: [UInt64]]?

  init(_ rows: RemoteRows) { self.rows = rows }

  func change(_ number: UInt64) throws -> OutboxRow? {
    if let edited = edited[number] { return edited }
    return try rows.change(number)
  }

  /// All changes, in their order.
  func changes() throws -> [(number: UInt64, change: OutboxRow)] {
    var changes = Dictionary(uniqueKeysWithValues: try rows.changes().map { ($0.number, $0.change) })
    for (number, change) in edited { changes[number] = change }
    return changes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  mutating func put(_ change: OutboxRow, _ number: UInt64) { edited[number] = .some(change) }

  mutating func remove(_ number: UInt64) { edited[number] = .some(nil) }

  /// Lets the changes that refer to an object refer to another one, or to none.
  ///
  /// An object that is gone may be inserted again by a context that still has it. It is another object for the service
  /// then, and what was sent with the former one must not refer to it.
  mutating func replace(_ object: ObjectReference, by other: ObjectReference?) throws {
    for number in try changes(referringTo: object) {
      guard var change = try change(number), let map = rows.access.schema[change.object.entity] else { continue }
      change.values = try replace(object, by: other, in: change.values, map, change.object)
      change.base = try replace(object, by: other, in: change.base, map, change.object)
      change.members = change.members.compactMap { members in
        func replaced(_ objects: [ObjectReference]) -> [ObjectReference] {
          objects.compactMap { $0 == object ? other : $0 }
        }
        let members = OutboxRow.Members(
          relationship: members.relationship, added: replaced(members.added), removed: replaced(members.removed))
        return members.added.isEmpty && members.removed.isEmpty ? nil : members
      }
      put(change, number)
    }
  }

  private mutating func changes(referringTo object: ObjectReference) throws -> Set<UInt64> {
    if referring == nil {
      var all: [ObjectReference: [UInt64]] = [:]
      let values = RowValues(rows)
      for (number, change) in try rows.changes() {
        guard let map = rows.access.schema[change.object.entity] else { continue }
        var references = try values.references(in: change.values, map) + values.references(in: change.base, map)
        for members in change.members { references += members.added + members.removed }
        for reference in Set(references) where reference != change.object { all[reference, default: []].append(number) }
      }
      referring = all
    }
    return Set(referring?[object] ?? []).union(edited.keys)
  }

  private func replace(
    _ object: ObjectReference, by other: ObjectReference?, in bytes: [UInt8], _ map: EntityMap,
    _ owner: ObjectReference
  ) throws -> [UInt8] {
    let fields = try StoreFailure.reading("A change of \(map.entity.name ?? "")") {
      try map.fields.filter { field in
        guard case .toOne = field.kind else { return false }
        return try FieldReader.field(field.number, of: bytes)?.object(in: bytes) == object
      }
    }
    guard !fields.isEmpty else { return bytes }
    guard let id = other.flatMap({ rows.access.objectID($0) }) else {
      let numbers = Set(fields.map(\.number))
      return try RecordRows.part(bytes, of: map.fields.filter { !numbers.contains($0.number) })
    }
    return try rows.access.bytes(
      of: bytes, replacing: fields, by: fields.map { _ in .reference(id) }, owner)
  }

  /// Adds the edits to those of a batch.
  func add(to additions: inout RowAdditions) {
    for (number, change) in edited {
      if let change {
        additions.put(change.bytes, at: .integer(Int64(number)), in: OutboxRow.table)
      } else {
        additions.delete(.integer(Int64(number)), in: OutboxRow.table)
      }
    }
  }
}

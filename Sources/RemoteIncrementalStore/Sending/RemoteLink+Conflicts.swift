import Foundation
import IncrementalStore
import OpenCoreData
import RowFormat

/// Resolves conflicts between changes that wait and what the service says.
extension RemoteLink {
  /// Looks at objects that were changed here, and of which the service says something else. A service with versions
  /// answers the change with a conflict; without them, the values before the change tell.
  func settle(_ contradictions: [RecordRows.Contradiction]) async {
    for contradiction in contradictions {
      do {
        guard let record = contradiction.record else {
          try settle(goneObject: contradiction.object)
          continue
        }
        guard record.tag == nil, let entry = try firstChange(of: contradiction.object), entry.change.state != .sent,
          entry.change.state != .unknown, entry.change.kind == .update,
          try !contradicted(entry, record).isEmpty
        else { continue }
        try resolve(entry, record)
      } catch {
        events.post(.sendingFailed(objectIDs([contradiction.object]), error))
      }
    }
  }

  private func firstChange(of object: ObjectReference) throws -> Outbox.Entry? {
    try read { try Outbox($0).entries.first { $0.change.object == object } }
  }

  /// Unless the application's changes win, they end with the object.
  private func settle(goneObject object: ObjectReference) throws {
    let ids = objectIDs([object])
    var refused = false
    let isKept =
      switch policy {
      case .serviceWins, .byProperty: false
      case .applicationWins, .custom: true
      }
    try edit { rows in
      refused = false
      guard var origin = try rows.origin(of: object) else { return }
      let changes = try origin.changes.compactMap { number in
        try rows.outbox.change(number).map { (number: number, change: $0) }
      }
      guard !changes.contains(where: { $0.change.state == .sent }) else { return }
      for (number, change) in changes {
        if change.kind == .delete || !isKept {
          origin.changes.removeAll { $0 == number }
          rows.outbox.remove(number)
        } else if change.state == .waiting {
          var change = change
          change.refuse("\(RemoteFailure.gone)")
          rows.outbox.put(change, number)
          refused = true
        }
      }
      rows.set(origin, of: object)
      if !origin.isWaiting { try rows.remove(object) }
    }
    for id in ids { events.post(refused ? .refused(id, "\(RemoteFailure.gone)") : .conflict(id)) }
  }

  // MARK: A change with a conflict

  func settle(conflictOf entry: Outbox.Entry, _ record: RemoteRecord?) async throws {
    // What a part of the object leaves out may have changed, too.
    if let record, entry.map.fields.allSatisfy({ record.values[$0.name] != nil }) {
      return try resolve(entry, record, isAnswer: true)
    }
    guard let identifier = try read({ try $0.identifier(of: entry.change.object) }) else { return }
    let answer: RemoteRecords
    do {
      answer = try await ask { try await service.records([RemoteReference(identifier)]) }
    } catch {
      guard case .unsupported = error, let record else { throw error }
      return try resolve(entry, record, isAnswer: true)
    }
    if let record = answer.found.first(where: { $0.identifier == identifier }) {
      return try resolve(entry, record, isAnswer: true)
    }
    guard answer.gone.contains(identifier) else {
      throw RemoteFailure.invalidAnswer("it says nothing of \(identifier), for which it has reported a conflict")
    }
    try settle(goneObjectOf: entry)
  }

  /// Settles that the object of a change that was sent does not exist any more.
  func settle(goneObjectOf entry: Outbox.Entry) throws {
    try reopen(entry)
    try settle(goneObject: entry.change.object)
  }

  /// Notes that the service has not made a change.
  private func reopen(_ entry: Outbox.Entry) throws {
    try edit(recordsHistory: false) { rows in
      guard var change = try rows.outbox.change(entry.number) else { return }
      change.state = .waiting
      rows.outbox.put(change, entry.number)
    }
  }

  /// The changed properties that the service has changed, too.
  private func contradicted(_ entry: Outbox.Entry, _ theirs: RemoteRecord) throws -> Set<String> {
    try read { rows in
      let base = try RowValues(rows).values(of: entry.change.base, entry.map)
      return Set(
        base.keys.filter { name in
          guard let value = theirs.values[name], let former = base[name] else { return false }
          return !value.isSame(as: former, entry.map, name)
        })
    }
  }

  /// - Parameter isAnswer: Whether the record came as the answer to the change. Otherwise the change must not have been
  ///   sent since.
  private func resolve(_ entry: Outbox.Entry, _ theirs: RemoteRecord, isAnswer: Bool = false) throws {
    let (base, ours) = try read { rows in
      let values = RowValues(rows)
      return (
        try values.values(of: entry.change.base, entry.map), try values.values(of: entry.change.values, entry.map)
      )
    }
    let isDeletion = entry.change.kind == .delete
    let kept: Set<String>?
    switch policy {
    case .serviceWins: kept = nil
    case .applicationWins: kept = Set(ours.keys)
    case .byProperty: kept = isDeletion ? [] : Set(ours.keys).subtracting(try contradicted(entry, theirs))
    case .custom(let decide):
      let conflict = RemoteConflict(
        identifier: theirs.identifier, isDeletion: isDeletion, base: base, ours: isDeletion ? [:] : ours,
        theirs: theirs.values)
      kept =
        switch decide(conflict) {
        case .takeTheirs: nil
        case .keepOurs(let names): names.intersection(ours.keys)
        }
    }
    try edit { rows in
      guard let change = try rows.outbox.change(entry.number), change.key == entry.change.key,
        change.state == (isAnswer ? .sent : entry.change.state)
      else { return }
      if isAnswer { rows.use(theirs.identifier) }
      if isDeletion {
        try rows.resolve(deletion: entry, theirs, isKept: kept != nil)
      } else {
        try rows.resolve(entry, theirs, kept)
      }
    }
    for id in objectIDs([entry.change.object]) { events.post(.conflict(id)) }
  }
}

extension RecordRows {
  fileprivate mutating func resolve(deletion entry: Outbox.Entry, _ theirs: RemoteRecord, isKept: Bool) throws {
    let object = entry.change.object
    guard var origin = try origin(of: object), var change = try outbox.change(entry.number) else { return }
    if isKept {
      origin.tag = theirs.tag
      change.reopen()
      outbox.put(change, entry.number)
      return set(origin, of: object)
    }
    drop(entry.number, &origin)
    origin.knownSets = []
    try expectAllOfLists()
    try write(theirs, of: object, entry.map, &origin, isWhole: true)
  }

  /// - Parameter kept: The properties that keep the values that were set here; nil if everything becomes as the service
  ///   has it.
  fileprivate mutating func resolve(_ entry: Outbox.Entry, _ theirs: RemoteRecord, _ kept: Set<String>?) throws {
    let object = entry.change.object
    guard var origin = try origin(of: object), var change = try outbox.change(entry.number) else { return }
    // An object that was deleted here since is what its deletion, which is sent next, makes of it.
    if try bytes(of: object) == nil {
      drop(entry.number, &origin)
      return set(origin, of: object)
    }
    let identifier = theirs.identifier
    if origin.identifier == nil { try name(object, identifier.value, &origin) }
    try write(theirs, of: object, entry.map, &origin, isWhole: false)
    let fields = entry.map.fields.filter { kept?.contains($0.name) ?? false }
    let theirBytes = try bytes(of: object) ?? OutboxRecorder.none
    change.base = try Self.part(theirBytes, of: fields)
    change.values = try Self.part(change.values, of: fields)
    if kept == nil {
      let told = Set(entry.map.sets.filter { theirs.members[$0.name]?.isComplete == true }.map(\.end.number))
      try revert(change.members.filter { !told.contains($0.relationship) }, of: object, &origin)
    }
    if kept == nil { change.members = [] }
    try apply(change.members, to: object, entry.map)
    // What is sent later stays, too.
    var overlay = change.values
    for number in origin.changes where number > entry.number {
      guard let later = try outbox.change(number) else { continue }
      overlay = try OutboxRow.merged(overlay, with: later.values)
      try apply(later.members, to: object, entry.map)
    }
    try set(try existing(values(in: overlay, entry.map)), of: object, entry.map)
    origin = try self.origin(of: object) ?? origin
    if change.values == OutboxRecorder.none, change.members.isEmpty {
      drop(entry.number, &origin)
    } else {
      change.kind = .update
      change.reopen()
      outbox.put(change, entry.number)
    }
    set(origin, of: object)
  }

  private mutating func drop(_ number: UInt64, _ origin: inout OriginRow) {
    origin.changes.removeAll { $0 == number }
    outbox.remove(number)
  }

  /// Takes back changes of members that no record has told about.
  mutating func revert(_ members: [OutboxRow.Members], of object: ObjectReference, _ origin: inout OriginRow) throws {
    for change in members {
      origin.knownSets.removeAll { $0 == UInt64(change.relationship) }
      guard edits.edits[object]?.members[change.relationship] == nil else { continue }
      let former = try change.removed.filter { try bytes(of: $0) != nil }
      edit(object) { $0.members[change.relationship] = .init(added: former, removed: change.added, order: nil) }
    }
  }

  /// Makes changes of members again on top of what a record has told.
  private mutating func apply(
    _ members: [OutboxRow.Members], to object: ObjectReference, _ map: EntityMap
  ) throws {
    for change in members {
      guard let set = map.sets.first(where: { $0.end.number == change.relationship }) else { continue }
      let present = try rows.members(of: object, set)
      let told = edits.edits[object]?.members[change.relationship]
      let left = Set((told?.removed ?? []) + change.removed)
      let joining = try ((told?.added ?? []) + change.added).filter { member in
        try !change.removed.contains(member) && bytes(of: member) != nil
      }
      let wanted = Set(joining).union(present.filter { !left.contains($0) })
      let order = told?.order.map { order in
        order.filter { wanted.contains($0) } + change.added.filter { wanted.contains($0) && !order.contains($0) }
      }
      edit(object) {
        $0.members[change.relationship] = .init(
          added: joining.filter { !present.contains($0) }, removed: present.filter { !wanted.contains($0) },
          order: order)
      }
    }
  }

  /// The values without references to objects that have been deleted since.
  func existing(_ values: [UInt32: ManagedValue]) throws -> [UInt32: ManagedValue] {
    try values.mapValues { value in
      guard let id = value.objectID, try bytes(of: access.reference(id)) == nil else { return value }
      return .null
    }
  }

  /// Some fields of a row.
  static func part(_ bytes: [UInt8], of fields: [EntityMap.StoredField]) throws -> [UInt8] {
    let wanted = Set(fields.map(\.number))
    var writer = FieldWriter()
    try StoreFailure.reading("A change") {
      var reader = try FieldReader(bytes)
      while let (number, field) = try reader.next() {
        if wanted.contains(number) { writer.copy(number, field, of: bytes) }
      }
    }
    return writer.bytes
  }

  func values(in bytes: [UInt8], _ map: EntityMap) throws -> [UInt32: ManagedValue] {
    let known = try Self.numbers(in: bytes)
    var values: [UInt32: ManagedValue] = [:]
    for field in map.fields where known.contains(field.number) {
      values[field.number] = try StoreFailure.reading("A change") { try access.value(of: field, in: bytes) }
    }
    return values
  }
}

extension OutboxRow {
  /// Lets the change be sent as a new one.
  mutating func reopen() {
    (state, attempts, earliest, refusal) = (.waiting, 0, 0, "")
    key = .random(in: .min ... .max)
  }
}

extension RemoteValue {
  /// Whether two values are the same once they are converted to the type of the property.
  fileprivate func isSame(as other: RemoteValue, _ map: EntityMap, _ name: String) -> Bool {
    guard let field = map.field(named: name), case .attribute(let attribute) = field.kind else {
      return identifier == other.identifier
    }
    guard let one = managed(as: attribute.attributeType), let two = other.managed(as: attribute.attributeType) else {
      return self == other
    }
    return one.isEqual(two)
  }

  /// The identifier of an object without its entity; nil for no object.
  private var identifier: String? {
    switch self {
    case .object(let identifier): identifier.value
    case .string(let text): text
    case .integer(let number): "\(number)"
    default: nil
    }
  }
}

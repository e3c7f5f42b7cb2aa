import Foundation
import IncrementalStore
import OpenCoreData
import RowFormat

/// Sends what is in the outbox.
///
/// A change is marked as sent before it is sent, as durably as the store saves, so that a later process knows that it
/// may have been made.
extension RemoteLink {
  /// Sends changes until nothing more can be sent at present.
  ///
  /// - Parameter byHand: Whether the application asks for it. Then changes that are to wait longer are sent, too, each
  ///   once at most.
  func sendChanges(byHand: Bool = false) async {
    if let answer = sending.begin(byHand: byHand) {
      try? await answer.value()
      return
    }
    var next: Bool? = byHand
    while let byHand = next {
      await sendAll(byHand)
      next = sending.end()
    }
  }

  private func sendAll(_ byHand: Bool) async {
    var tried: Set<UInt128> = []
    while !sending.isHeld, !Task.isCancelled {
      do {
        guard let (entries, changes) = try take(byHand ? nil : Self.now, tried) else { break }
        tried.formUnion(entries.map(\.change.key))
        try await send(entries, changes)
      } catch {
        // The store is gone, or cannot be written; the next one to send tries again.
        events.post(.sendingFailed([], error))
        break
      }
    }
    scheduleRetry()
  }

  /// Marks the next changes as sent; nil if there are none.
  private func take(_ now: Double?, _ tried: Set<UInt128>) throws -> (entries: [Outbox.Entry], changes: [RemoteChange])?
  {
    var taken: (entries: [Outbox.Entry], changes: [RemoteChange])?
    try edit(recordsHistory: false) { rows in
      taken = nil
      let outbox = try Outbox(rows.rows)
      let next = try outbox.next(atMost: max(1, service.changesPerRequest), now: now, except: tried)
      guard !next.isEmpty else { return }
      taken = (next, try next.map { try outbox.sent($0) })
      for entry in next {
        var change = entry.change
        change.state = .sent
        change.attempts += 1
        rows.outbox.put(change, entry.number)
      }
    }
    return taken
  }

  private func send(_ entries: [Outbox.Entry], _ changes: [RemoteChange]) async throws {
    guard service.repeating != .finding else { return try await sendOneByOne(entries, changes) }
    do {
      try await settle(entries, try await outcomes(changes))
    } catch let error as Unanswered {
      try fail(entries, error.failure)
    }
  }

  /// Sends changes, of which those that may have been made are looked for first. Once one is not answered, the others
  /// have not been sent.
  private func sendOneByOne(_ entries: [Outbox.Entry], _ changes: [RemoteChange]) async throws {
    for (place, (entry, change)) in zip(entries, changes).enumerated() {
      do {
        try await settle([entry], [try await outcome(change)])
      } catch let error as Unanswered {
        try fail([entry], error.failure)
        return try fail(Array(entries[(place + 1)...]), .unreachable("\(error.failure)"))
      }
    }
  }

  /// A request that has no answer.
  private struct Unanswered: Error {
    let failure: RemoteFailure
  }

  private func outcomes(_ changes: [RemoteChange]) async throws -> [RemoteOutcome] {
    do {
      let outcomes = try await service.send(changes)
      guard outcomes.count == changes.count else {
        throw RemoteFailure.answerLost("\(outcomes.count) outcomes for \(changes.count) changes")
      }
      return outcomes
    } catch {
      throw Unanswered(failure: service.failure(error))
    }
  }

  private func outcome(_ change: RemoteChange) async throws -> RemoteOutcome {
    if change.kind == .insert, change.attempts > 0 {
      do {
        if let record = try await service.record(madeBy: change) { return .accepted(record) }
      } catch {
        throw Unanswered(failure: service.failure(error))
      }
    }
    return try await outcomes([change])[0]
  }

  private func settle(_ entries: [Outbox.Entry], _ outcomes: [RemoteOutcome]) async throws {
    for (entry, outcome) in zip(entries, outcomes) {
      do {
        try await settle(entry, outcome)
      } catch let failure as RemoteFailure {
        try fail([entry], .answerLost("\(failure)"))
      }
    }
  }

  // MARK: Failures

  /// Notes that changes were not answered.
  private func fail(_ entries: [Outbox.Entry], _ failure: RemoteFailure) throws {
    if case .unauthorized = failure { sending.isHeld = true }
    try edit(recordsHistory: false) { rows in
      for entry in entries {
        guard var change = try rows.outbox.change(entry.number) else { continue }
        switch failure {
        case .unreachable, .unauthorized:
          // It was certainly not made, and is as it was before.
          change.state = entry.change.state
          change.attempts = entry.change.attempts
          change.earliest = Self.now + Self.pause(after: change.attempts + 1)
        case .later(let time):
          change.state = entry.change.state
          change.earliest = Self.now + (time.map(\.seconds) ?? Self.pause(after: change.attempts))
        case .refused(let reason): change.refuse(reason)
        case .unsupported, .gone: change.refuse("\(failure)")
        case .answerLost, .invalidAnswer, .unsettled:
          if service.repeating == .nothing {
            change.state = .unknown
          } else {
            change.earliest = Self.now + Self.pause(after: change.attempts)
          }
        }
        rows.outbox.put(change, entry.number)
      }
    }
    for entry in entries { try report(entry, failure) }
  }

  private func report(_ entry: Outbox.Entry, _ failure: RemoteFailure) throws {
    let ids = objectIDs([entry.change.object])
    let state = try read { try $0.change(entry.number) }
    for id in ids {
      switch state?.state {
      case .refused: events.post(.refused(id, state?.refusal ?? ""))
      case .unknown: events.post(.unknown(id))
      default: events.post(.sendingFailed([id], failure))
      }
    }
  }

  /// Between half of and one and a half times 2, 4, 8 … seconds, up to five minutes.
  private static func pause(after attempts: UInt64) -> Double {
    min(300, Double(UInt64(1) << min(attempts, 9))) * .random(in: 0.5...1.5)
  }

  /// Tries again when the first change that waits may be sent.
  private func scheduleRetry() {
    guard !sendsByHand, !sending.isHeld, let earliest = (try? read { try Outbox($0).entries.earliest }) ?? nil else {
      return sending.set(nil)
    }
    let seconds = max(0.05, earliest - Self.now)
    sending.set(
      threads.begin { [weak self] in
        try await Task.sleep(for: .seconds(seconds))
        self?.begin { await $0.sendChanges() }
      })
  }

  // MARK: Outcomes

  private func settle(_ entry: Outbox.Entry, _ outcome: RemoteOutcome) async throws {
    switch outcome {
    case .accepted(let record):
      do {
        try accept(entry, record)
      } catch let error as NSError where error.domain == NSCocoaErrorDomain {
        // What the service has made of the object does not fit the others here, so it is read again.
        try accept(entry, record.map { RemoteRecord($0.identifier) })
      }
    case .conflict(let record): try await settle(conflictOf: entry, record)
    case .gone where entry.change.kind == .delete: try accept(entry, nil)
    case .gone: try settle(goneObjectOf: entry)
    case .refused(let reason): try fail([entry], .refused(reason))
    case .later(let time): try fail([entry], .later(time))
    case .lost(let reason): try fail([entry], .answerLost(reason))
    }
  }

  private func accept(_ entry: Outbox.Entry, _ record: RemoteRecord?) throws {
    let object = entry.change.object
    var isStale = false
    let known = try read { try $0.identifier(of: object) }
    try edit { rows in
      isStale = false
      // Before others can write what was asked for earlier.
      if let identifier = record?.identifier ?? known { rows.use(identifier) }
      guard var origin = try rows.origin(of: object) else { return }
      origin.changes.removeAll { $0 == entry.number }
      let change = try rows.outbox.change(entry.number)
      rows.outbox.remove(entry.number)
      if entry.change.kind == .delete {
        rows.set(origin, of: object)
        return origin.isWaiting ? () : try rows.forget(object)
      }
      if let record {
        try rows.unite(object, with: record.identifier, &origin)
      } else if entry.change.kind == .insert, origin.identifier == nil {
        throw RemoteFailure.invalidAnswer("a new object was accepted without an identifier")
      }
      if let change { try rows.restore(change, entry.map, &origin) }
      origin.readAt = Self.now
      origin.tag = record?.tag
      rows.set(origin, of: object)
      guard let map = rows.access.schema[object.entity] else { return }
      let isTold = map.fields.allSatisfy { record?.values[$0.name] != nil }
      // A version alone says that the service has what the store has.
      isStale = !isTold && origin.tag == nil
      if origin.isWaiting {
        // What others have changed is not known, although the next change is based on it.
        if record?.values.isEmpty == false || isStale { rows.setPartial(object) }
        return isStale = false
      }
      if let record { try rows.write(record, of: object, map, &origin, isWhole: false) }
      if isStale { rows.setPartial(object) }
    }
    for id in objectIDs([object]) { events.post(.sent(id)) }
    if isStale, let reference = try read({ try $0.identifier(of: object) }).map({ RemoteReference($0) }) {
      begin { try? await $0.readRecords([reference]) }
    }
  }
}

extension RecordRows {
  /// Gives an object the identifier that the service has named. If another object has the identifier already, since a
  /// list was read before the answer came, that one is removed, and what refers to it refers to this one.
  fileprivate mutating func unite(
    _ object: ObjectReference, with identifier: RemoteIdentifier, _ origin: inout OriginRow
  ) throws {
    if let other = try rows.object(identifier), other != object { try replace(other, by: object) }
    try name(object, identifier.value, &origin)
  }

  private mutating func replace(_ other: ObjectReference, by object: ObjectReference) throws {
    guard let map = access.schema[other.entity], other.entity == object.entity, let id = access.objectID(object) else {
      throw RemoteFailure.invalidAnswer("a new object has the identifier of an object of another entity")
    }
    for set in map.sets {
      let members = try rows.members(of: other, set)
      if case .toOne(let number) = set.inverse {
        for member in members {
          guard let memberMap = access.schema[member.entity] else { continue }
          try self.set([number: .reference(id)], of: member, memberMap)
        }
      } else if !members.isEmpty {
        try take(members, isComplete: false, of: object, set)
      }
    }
    try outbox.replace(other, by: object)
    try delete(other)
    try forget(other)
  }

  /// References that were left out, because the objects were new as well, are sent now.
  fileprivate mutating func restore(_ insertion: OutboxRow, _ map: EntityMap, _ origin: inout OriginRow) throws {
    guard insertion.kind == .insert else { return }
    var left: [UInt32: ManagedValue] = [:]
    let bytes = insertion.values
    for field in map.fields {
      guard case .toOne = field.kind else { continue }
      let related = try StoreFailure.reading("A change") {
        try FieldReader.field(field.number, of: bytes)?.object(in: bytes)
      }
      guard let related, try rows.identifier(of: related) == nil, try rows.origin(of: related)?.isWaiting ?? false,
        let id = access.objectID(related)
      else { continue }
      left[field.number] = .reference(id)
    }
    guard !left.isEmpty, var head = try rows.head() else { return }
    let fields = map.fields.filter { left[$0.number] != nil }
    let values = try access.bytes(
      of: OutboxRecorder.none, replacing: fields, by: fields.map { left[$0.number] ?? .null }, insertion.object)
    let change = OutboxRow(
      .update, insertion.object, key: .random(in: .min ... .max), base: OutboxRecorder.none, values: values)
    origin.changes = (origin.changes + [head.nextChange]).sorted()
    outbox.put(change, head.nextChange)
    head.nextChange += 1
    add { $0.put(head.bytes, at: StoreHead.remoteReference, in: StoreHead.table) }
  }
}

extension OutboxRow {
  mutating func refuse(_ reason: String) {
    state = .refused
    refusal = reason
  }
}

extension [Outbox.Entry] {
  /// When the first change that waits may be sent; nil if none waits.
  fileprivate var earliest: Double? {
    lazy.filter { $0.change.state == .waiting || $0.change.state == .sent }.map(\.change.earliest).min()
  }
}

extension Duration {
  var seconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}

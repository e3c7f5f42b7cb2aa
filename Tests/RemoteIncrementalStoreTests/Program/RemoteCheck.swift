import CairnSimulation
import CoreData
import Foundation
import RemoteIncrementalStore

/// What must hold after a program, when nothing goes wrong any more.
struct RemoteCheck {
  /// An object of a store, or of the service.
  private struct Thing: Hashable, CustomStringConvertible {
    var entity: String
    var values: [String: RemoteValue]
    var assignee: String?
    var tags: Set<String>
    var others: Set<String>

    var description: String {
      let values = values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
      return "\(entity) \(values), assignee \(assignee ?? "-"), tags \(tags.sorted()), others \(others.sorted())"
    }
  }

  private let runner: RemoteRunner
  private var service: SimulatedService { runner.service }

  init(_ runner: RemoteRunner) { self.runner = runner }

  func check() throws {
    service.heal()
    for store in runner.stores {
      try runner.quieten(store)
      store.forget()
    }
    var rounds = 0
    while try round() {
      rounds += 1
      if rounds == 12 {
        let unsent = try runner.stores.flatMap { try $0.store.unsentChanges.map { "\($0)" } }
        throw TestFailure(
          "no end of changes: \(unsent) after \(service.requests.suffix(20).map { "\($0.client) \($0.text)" })")
      }
    }
    let theirs = things()
    var found: [[String: [Thing]]] = []
    for store in runner.stores {
      let ours = try things(of: store)
      try compare(ours, theirs, store)
      try checkWrites(of: store)
      found.append(ours)
    }
    let (requests, changes) = (service.requests.count, service.now.log.count)
    if try round() { throw TestFailure("a further round changes something") }
    let sent = service.requests[requests...].filter { $0.kind == .send }
    if !sent.isEmpty || service.now.log.count != changes {
      throw TestFailure("a further round sends \(sent.map(\.text))")
    }
    for (store, ours) in zip(runner.stores, found) where try things(of: store) != ours {
      throw TestFailure("a further round changes store \(store.index)")
    }
    if service.options.repeating == .keys, let (_, more) = service.now.applied.first(where: { $1.count > 1 }) {
      throw TestFailure("made \(more.count) times: \(more.change)")
    }
  }

  /// Sends and reads everything once. Returns whether anything has changed, or remains to be done.
  private func round() throws -> Bool {
    let before = service.now.log.count
    var isDone = true
    for store in runner.stores {
      for change in try runner.setAside(store) {
        isDone = false
        if runner.program.seed % 2 == 0, change.state == .unknown {
          try runner.retry(change, store)
        } else {
          try runner.discard(change, store)
        }
      }
      let subject = store.store
      try runner.await { await subject.sendChanges() }
      if service.options.rememberedChanges > 0 {
        try step("reading changes", store) { try runner.await { try await subject.readChanges() } }
      }
      for entity in ServiceState.entities {
        try step("refreshing \(entity)", store) {
          // The first time may only finish an earlier reading, which is as old as its first page.
          for _ in 0..<2 {
            try runner.await {
              let request = NSFetchRequest<NSManagedObject>(entityName: entity)
              try await subject.refresh(request)
            }
          }
        }
        let identifiers = try runner.perform(store) { context in
          try RemoteRunner.all(entity, context).map(\.objectID)
        }
        if isNotTold(of: entity) {
          store.forget()
          try subject.evict(identifiers)
        }
        try step("loading \(entity)", store) { try runner.await { try await subject.load(identifiers) } }
      }
      try runner.quieten(store)
      if try !runner.hasNoChanges(store) { isDone = false }
    }
    return !isDone || service.now.log.count != before
  }

  /// Whether the list of an entity does not tell everything that has changed, so that objects have to be read again.
  private func isNotTold(of entity: String) -> Bool {
    let options = service.options
    return options.pagesByIndex || options.hasIncrementalTags && entity == "Tag"
      || options.listed == .parts && !options.tagsObjects
  }

  private func step(_ what: String, _ store: ProgramStore, _ body: () throws -> Void) throws {
    do { try body() } catch { throw TestFailure("\(what) of store \(store.index): \(error)") }
  }

  /// The objects of the service by their tokens.
  private func things() -> [String: [Thing]] {
    let state = service.now
    func tokens(_ identifiers: some Sequence<RemoteIdentifier>) -> Set<String> {
      Set(identifiers.compactMap { state.token(of: $0) })
    }
    var things: [String: [Thing]] = [:]
    for (identifier, thing) in state.things {
      var assignee: String?
      if case .object(let user) = thing.values["assignee"] { assignee = state.token(of: user) }
      let others: [RemoteIdentifier] =
        switch identifier.entityName {
        case "Tag": state.members(of: "bugs", of: identifier)
        case "User": state.members(of: "assigned", of: identifier)
        default: []
        }
      things[state.token(of: identifier) ?? "", default: []].append(
        Thing(
          entity: identifier.entityName, values: thing.values.filter { $0.key != "assignee" }, assignee: assignee,
          tags: tokens(thing.tags), others: tokens(others)))
    }
    return things
  }

  private func things(of store: ProgramStore) throws -> [String: [Thing]] {
    store.forget()
    return try runner.perform(store) { context in
      func token(_ object: NSManagedObject) -> String { object.value(forKey: "token") as? String ?? "" }
      func tokens(_ object: NSManagedObject, _ name: String) -> Set<String> {
        Set((object.value(forKey: name) as? Set<NSManagedObject> ?? []).map(token))
      }
      var things: [String: [Thing]] = [:]
      for entity in ServiceState.entities {
        for object in try RemoteRunner.all(entity, context) {
          let values = Dictionary(
            uniqueKeysWithValues: object.entity.attributesByName.keys.map {
              ($0, RemoteRunner.remote(object.value(forKey: $0)))
            })
          let assignee = entity == "Bug" ? object.value(forKey: "assignee") as? NSManagedObject : nil
          things[token(object), default: []].append(
            Thing(
              entity: entity, values: values, assignee: assignee.map(token),
              tags: entity == "Bug" ? tokens(object, "tags") : [],
              others: entity == "Tag" ? tokens(object, "bugs") : entity == "User" ? tokens(object, "assigned") : []))
        }
      }
      return things
    }
  }

  private func compare(_ ours: [String: [Thing]], _ theirs: [String: [Thing]], _ store: ProgramStore) throws {
    for token in Set(ours.keys).union(theirs.keys).sorted() {
      let (here, there) = (ours[token] ?? [], theirs[token] ?? [])
      if here.count == there.count && Set(here) == Set(there) { continue }
      throw TestFailure("store \(store.index) has \(here)\nand the service \(there)\n(\(token))")
    }
  }

  /// Whether others have changed a property of an object of a service without versions, which a store finds out by
  /// itself. What becomes of the store's value depends on its policy then.
  ///
  /// - Parameters:
  ///   - had: The values that the property has had at the service.
  ///   - saved: Those that the store has saved.
  ///   - isOwn: Whether the store has made the object.
  private func isContested(_ had: Set<RemoteValue>, _ saved: [RemoteValue], isOwn: Bool) -> Bool {
    !service.options.tagsObjects && had.subtracting(saved).count > (isOwn ? 0 : 1)
  }

  /// Everything that was saved has come to the service, unless there is a reason why not.
  private func checkWrites(of store: ProgramStore) throws {
    let state = service.now
    for (token, values) in store.saved {
      if store.excused.contains(token) || state.contested.contains(token) { continue }
      let identifiers = state.identifiers(withToken: token)
      let wasDeleted = state.graves.contains { state.token(of: $0) == token }
      if identifiers.isEmpty {
        if wasDeleted { continue }
        throw TestFailure("store \(store.index) has saved \(token), and the service has never had it")
      }
      // Several stores may insert an object again that the service has deleted.
      if identifiers.count > 1, service.options.repeating != .nothing, !wasDeleted {
        throw TestFailure("\(token) is there \(identifiers.count) times")
      }
      for (name, values) in values {
        let (value, had) = (values.last ?? .null, state.history[token]?[name] ?? [])
        if had.contains(value) || isContested(had, values, isOwn: token.hasPrefix("store \(store.index).")) { continue }
        throw TestFailure("store \(store.index) has saved \(name) \(value) of \(token), and the service never had it")
      }
    }
  }
}

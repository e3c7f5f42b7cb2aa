import CoreData
import Foundation
import RemoteIncrementalStore

/// What a program does with changes that were not sent.
extension RemoteRunner {
  /// The changes that were kept aside, the last first, so that none depends on one behind it.
  func setAside(_ store: ProgramStore) throws -> [RemoteUnsentChange] {
    try store.store.unsentChanges.filter { change in
      switch change.state {
      case .refused, .unknown: true
      case .waiting, .sent: false
      }
    }.sorted { $0.id > $1.id }
  }

  func hasNoChanges(_ store: ProgramStore) throws -> Bool { try store.store.unsentChanges.isEmpty }

  /// Sends a change again. The service may make it a second time then.
  func retry(_ change: RemoteUnsentChange, _ store: ProgramStore) throws {
    if change.state == .unknown { service.edit { $0.forgetUnknown() } }
    try store.store.retry(change)
  }

  /// Gives up a change and what depends on it.
  func discard(_ change: RemoteUnsentChange, _ store: ProgramStore) throws {
    guard try store.store.unsentChanges.contains(where: { $0.id == change.id }) else { return }
    let token = try perform(store) { context in
      try? context.existingObject(with: change.objectID).value(forKey: "token") as? String
    }
    if let token { store.excused.insert(token) }
    try store.store.discard(change)
  }

  /// The tokens that a second object may have: an insertion was made, and the store does not know that. Only a service
  /// that offers nothing against repeating leaves it at that.
  private func doubled(_ waiting: [(change: RemoteUnsentChange, token: String)]) -> Set<String> {
    guard service.options.repeating == .nothing else { return [] }
    let state = service.now
    return Set(
      waiting.lazy.filter { change, token in
        change.kind == .insert && !state.identifiers(withToken: token).isEmpty
          || state.identifiers(withToken: token).count > 1
      }.map(\.token))
  }

  /// Throws if the store has lost a value that waits to be sent, for instance because an answer has replaced it.
  func checkWaiting(_ store: ProgramStore) throws {
    let waiting = try store.store.unsentChanges.filter { $0.kind != .delete }
    guard !waiting.isEmpty else { return }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = store.coordinator
    let found = try perform(in: context) { context -> [(RemoteUnsentChange, String, [String: RemoteValue])] in
      waiting.compactMap { change in
        guard let object = try? context.existingObject(with: change.objectID),
          let token = object.value(forKey: "token") as? String
        else { return nil }
        let names = change.properties.filter { object.entity.attributesByName[$0] != nil }
        return (
          change, token, Dictionary(uniqueKeysWithValues: names.map { ($0, Self.remote(object.value(forKey: $0))) })
        )
      }
    }
    let still = Set(try store.store.unsentChanges.map(\.objectID))
    let contested = service.now.contested.union(doubled(found.map { ($0.0, $0.1) }))
    for (change, token, values) in found where still.contains(change.objectID) {
      if contested.contains(token) || store.excused.contains(token) { continue }
      for (name, value) in values {
        guard let saved = store.saved[token]?[name]?.last, saved != value else { continue }
        throw TestFailure("\(name) of \(token) is \(value) and not \(saved), which waits")
      }
    }
  }
}

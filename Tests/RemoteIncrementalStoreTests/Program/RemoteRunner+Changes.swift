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
}

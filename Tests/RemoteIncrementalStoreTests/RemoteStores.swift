import CairnIncrementalStore
import CoreData
import Foundation
import RemoteIncrementalStore

/// Adds a store over a service to a new coordinator.
func addRemoteStore(
  at url: URL, _ service: any RemoteService, account: String = "", policy: RemoteConflictPolicy = .serviceWins,
  _ more: [AnyHashable: Any] = [:]
) throws -> (NSPersistentStoreCoordinator, RemoteIncrementalStore) {
  let description = NSPersistentStoreDescription.remote(at: url, service, account: account)
  var options = description.options as [AnyHashable: Any]
  options[CairnDurabilityOption] = "buffered"
  options[RemoteConflictsOption] = policy
  options.merge(more) { $1 }
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Tracker.model())
  let store = try coordinator.addPersistentStore(
    type: NSPersistentStore.StoreType(rawValue: description.type), at: url, options: options)
  guard let store = store as? RemoteIncrementalStore else { throw TestFailure("\(store) is not a remote store") }
  return (coordinator, store)
}

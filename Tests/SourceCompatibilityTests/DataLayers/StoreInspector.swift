import CoreData
import Foundation

/// Reads and writes the metadata of a store.
final class StoreInspector {
  private let coordinator: NSPersistentStoreCoordinator

  init(coordinator: NSPersistentStoreCoordinator) {
    self.coordinator = coordinator
  }

  private var store: NSPersistentStore { coordinator.persistentStores[0] }

  var storeIdentifier: String? {
    coordinator.metadata(for: store)[NSStoreUUIDKey] as? String
  }

  var storeType: String? {
    store.metadata[NSStoreTypeKey] as? String
  }

  var entityNames: [String] {
    let hashes = store.metadata[NSStoreModelVersionHashesKey] as? [String: Any] ?? [:]
    return hashes.keys.sorted()
  }

  var lastSyncToken: String? {
    get { store.metadata["lastSyncToken"] as? String }
    set {
      var metadata = coordinator.metadata(for: store)
      metadata["lastSyncToken"] = newValue
      coordinator.setMetadata(metadata, for: store)
    }
  }

  var isReadOnly: Bool {
    store.isReadOnly && store.options?[NSReadOnlyPersistentStoreOption] as? Bool == true
  }

  func isCompatible(with model: NSManagedObjectModel, configuration: String? = nil) -> Bool {
    model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: store.metadata)
  }

  static func descriptions() -> [NSPersistentStoreDescription] {
    let pragmas = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    pragmas.type = NSInMemoryStoreType
    pragmas.setValue("WAL" as NSString, forPragmaNamed: "journal_mode")
    pragmas.setOption(true as NSNumber, forKey: NSSQLiteAnalyzeOption)

    let readOnly = NSPersistentStoreDescription()
    readOnly.type = NSPersistentStore.StoreType.inMemory.rawValue
    readOnly.isReadOnly = true
    readOnly.timeout = 30
    readOnly.shouldAddStoreAsynchronously = false
    return [pragmas, readOnly]
  }

  /// Opens a store, and says why if it could not.
  static func open(_ description: NSPersistentStoreDescription, model: NSManagedObjectModel) -> String {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    var answer = "nothing"
    coordinator.addPersistentStore(with: description) { description, error in
      switch (error as? CocoaError)?.code {
      case nil: answer = "opened \(description.type)"
      case .persistentStoreInvalidType?: answer = "no such type: \(description.type)"
      case .persistentStoreIncompatibleVersionHash?: answer = "another model"
      case let code?: answer = "error \(code.rawValue)"
      }
    }
    return answer
  }
}

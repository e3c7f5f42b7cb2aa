import Cairn
import CoreData
import IncrementalStore

/// The options of a Core Data store, converted to options of the engine.
struct CairnOptions {
  var durability = Durability.durable
  /// How the engine opens the store.
  var engineOptions = StoreOptions()
  /// The files, time, randomness and background work that the engine uses.
  var environment = Environment.system

  /// The defaults. Segments have a quarter of the engine's default size: the log may be longer than needed by some
  /// segments, however short it is, and many stores of objects are short.
  init() { engineOptions.segmentSize = 16 << 20 }

  /// - Throws: 134080 for a value that an option does not allow.
  init(_ options: [AnyHashable: Any]?) throws {
    self.init()
    if (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue == true {
      engineOptions.access = .readOnly
      engineOptions.createsIfMissing = false
    }
    engineOptions.compacts = (options?[CairnCompactionOption] as? NSNumber)?.boolValue ?? true
    switch options?[CairnDurabilityOption] {
    case nil: break
    case let text as String where text == "durable": durability = .durable
    case let text as String where text == "buffered": durability = .buffered
    case let other?:
      throw StoreFailure.make(
        NSPersistentStoreOpenError, "The option \(CairnDurabilityOption) must be durable or buffered, not \(other).")
    }
  }

  var isReadOnly: Bool { engineOptions.access == .readOnly }
}

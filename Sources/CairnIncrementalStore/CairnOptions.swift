import Cairn
import Foundation
import OpenCoreData

/// The options of a store, as the engine takes them.
struct CairnOptions {
  var isReadOnly = false
  var durability = Durability.durable
  var compacts = true
  /// What the engine takes from outside.
  var environment = Environment.system

  init() {}

  /// - Throws: 134080 for a value that an option cannot have.
  init(_ options: [AnyHashable: Any]?) throws {
    isReadOnly = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue == true
    compacts = (options?[CairnCompactionOption] as? NSNumber)?.boolValue ?? true
    switch options?[CairnDurabilityOption] {
    case nil: break
    case let text as String where text == "durable": durability = .durable
    case let text as String where text == "buffered": durability = .buffered
    case let other?:
      throw CoreDataError.make(
        NSPersistentStoreOpenError, "The option \(CairnDurabilityOption) is durable or buffered, not \(other).")
    }
  }

  var engineOptions: StoreOptions {
    var options = StoreOptions()
    options.access = isReadOnly ? .readOnly : .readWrite
    options.createIfMissing = !isReadOnly
    options.compaction = compacts
    return options
  }
}

import Foundation
import OpenCoreData
import Synchronization

/// Makes numbers of ages, which are texts in the source.
final class FilePolicy: NSEntityMigrationPolicy {
  /// What is called once in a migration of the store at a URL, before the first object is made.
  static let interruptions = Mutex<[URL: @Sendable () throws -> Void]>([:])

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    for property in mapping.attributeMappings ?? [] where property.name == "age" {
      property.valueExpression = NSExpression(
        format: "CAST(TERNARY($source.age = nil, '0', $source.age), 'NSNumber')")
    }
    guard let url = manager.sourceContext.persistentStoreCoordinator?.persistentStores.first?.url else { return }
    try Self.interruptions.withLock { $0.removeValue(forKey: url) }?()
  }
}

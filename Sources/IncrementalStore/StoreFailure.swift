import Foundation
import OpenCoreData

/// Makes the errors of row stores.
enum StoreFailure {
  /// There is no row of an object.
  static func missing(_ id: NSManagedObjectID) -> NSError {
    CoreDataError.make(
      NSManagedObjectReferentialIntegrityError, "There is no row of \(id.uriRepresentation().absoluteString).",
      [NSAffectedObjectsErrorKey: [id]])
  }

  /// Bytes of the store that are not what they should be.
  ///
  /// - Parameter place: Where they are, as in "The row of x-coredata://…".
  static func damaged(_ place: String, _ damage: RowDamage) -> NSError {
    CoreDataError.make(
      CocoaError.fileReadCorruptFile.rawValue, "\(place) is damaged: \(damage).", [NSUnderlyingErrorKey: damage])
  }

  /// Runs what reads bytes, and says where they are if they are damaged.
  static func reading<R>(_ place: @autoclosure () -> String, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let damage as RowDamage {
      throw damaged(place(), damage)
    }
  }
}

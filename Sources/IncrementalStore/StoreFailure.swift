package import CoreData

/// Makes the errors of row stores, which are Cocoa's.
package enum StoreFailure {
  /// An error with a code of Cocoa's or of Core Data's.
  ///
  /// - Parameter text: What is wrong, as a sentence that names what it is about.
  package static func make(_ code: Int, _ text: String, _ userInfo: [String: Any] = [:]) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: code,
      userInfo: userInfo.merging([NSLocalizedDescriptionKey: text]) { given, _ in given })
  }

  /// There is no row of an object.
  static func missing(_ id: NSManagedObjectID) -> NSError {
    make(
      NSManagedObjectReferentialIntegrityError, "There is no row of \(id.uriRepresentation().absoluteString).",
      [NSAffectedObjectsErrorKey: [id]])
  }

  /// Bytes of the store that are not what they should be.
  ///
  /// - Parameter place: Where they are, as in "The row of x-coredata://…".
  static func damaged(_ place: String, _ damage: RowDamage) -> NSError {
    make(
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

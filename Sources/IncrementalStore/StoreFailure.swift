package import CoreData

/// Makes the errors of row stores, which are in Cocoa's domain.
package enum StoreFailure {
  /// An error with a code of Cocoa or of Core Data.
  ///
  /// - Parameter text: The problem, as a sentence that names the thing concerned.
  package static func make(_ code: Int, _ text: String, _ userInfo: [String: Any] = [:]) -> NSError {
    NSError(
      domain: NSCocoaErrorDomain, code: code,
      userInfo: userInfo.merging([NSLocalizedDescriptionKey: text]) { given, _ in given })
  }

  /// The error for an object without a row.
  static func missing(_ id: NSManagedObjectID) -> NSError {
    make(
      NSManagedObjectReferentialIntegrityError, "There is no row of \(id.uriRepresentation().absoluteString).",
      [NSAffectedObjectsErrorKey: [id]])
  }

  /// The error for damaged bytes of the store.
  ///
  /// - Parameter place: What the bytes belong to, as in "The row of x-coredata://…".
  static func damaged(_ place: String, _ damage: RowDamage) -> NSError {
    make(
      CocoaError.fileReadCorruptFile.rawValue, "\(place) is damaged: \(damage).", [NSUnderlyingErrorKey: damage])
  }

  /// Runs a closure that decodes bytes, and adds the place of the bytes to the error if they are damaged.
  package static func reading<R>(_ place: @autoclosure () -> String, _ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let damage as RowDamage {
      throw damaged(place(), damage)
    }
  }
}

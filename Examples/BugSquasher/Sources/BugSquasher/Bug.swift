import CoreData

/// A bug that somebody has found. Its properties are in the file beside this one, which `modelgen` has written.
class Bug: NSManagedObject {
  /// Gives a new bug the number that the store will know it by: one that no other bug has or will ever have.
  override func awakeFromInsert() {
    super.awakeFromInsert()
    bugID = UUID().uuidString
  }
}

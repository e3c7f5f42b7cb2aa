import CoreData

/// A bug. Its properties are in the extension that `modelgen` has written.
class Bug: NSManagedObject {
  /// Gives a new bug the identifier by which the store refers to it: one that no other bug has or will ever have.
  override func awakeFromInsert() {
    super.awakeFromInsert()
    bugID = UUID().uuidString
  }
}

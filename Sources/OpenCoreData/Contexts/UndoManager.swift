public import Foundation

/// Records changes so that they can be undone. Foundation has this class on Apple's platforms only.
///
/// There is no undo yet, so nothing can make an instance: it serves for code that sets a context's ``undoManager`` to
/// nil.
open class UndoManager: NSObject {
  @available(*, unavailable, message: "There is no undo yet: leave undoManager nil, and discard changes by rollback()")
  public override init() { fatalError("There is no undo yet.") }
}

extension NSManagedObjectContext {
  /// The manager that records the changes of the context; always nil, as it is by default on Apple's platforms.
  public var undoManager: UndoManager? {
    get { nil }
    set {}
  }
}

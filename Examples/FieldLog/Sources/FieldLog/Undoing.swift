import CoreData

extension NSManagedObjectContext {
  /// Takes back the last change.
  func undoOnce() throws {
    guard undoManager?.canUndo == true else { throw Refusal(reason: "there is nothing to undo") }
    undo()
  }

  /// Makes the change again that was taken back last.
  func redoOnce() throws {
    guard undoManager?.canRedo == true else { throw Refusal(reason: "there is nothing to redo") }
    redo()
  }
}

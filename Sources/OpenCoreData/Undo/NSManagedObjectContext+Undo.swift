/// Undoing changes of objects.
///
/// A context with a manager registers one action for the changes of each event, when it processes them: insertions,
/// deletions with all that the delete rules have done, and changes of values, transient ones and both ends of
/// relationships included. What merges, refreshes, saves and firing faults change is not registered.
extension NSManagedObjectContext {
  /// The manager that records the changes of the context; nil, the default, records nothing.
  ///
  /// Set it before the context is used, or on the queue of the context, which also the manager belongs to. Several
  /// contexts of one queue may share a manager. Setting it ends the event, and leaves the actions of the former manager
  /// as they are.
  ///
  /// If ``UndoManager/groupsByEvent`` is set, ``processPendingChanges()`` ends the group. Otherwise a group must be open
  /// when changes are processed.
  ///
  /// With a manager, changing a to-many relationship reads its members, and deleting an object reads its row.
  public var undoManager: UndoManager? {
    get { undoRecorder?.manager }
    set {
      guard newValue !== undoManager else { return }
      if isOwned { processPendingChanges() }
      undoRecorder = newValue.map { UndoRecorder($0, self) }
    }
  }

  /// Processes pending changes, and undoes the last group of the undo manager, which need not be of this context. Does
  /// nothing without a manager.
  ///
  /// An undo makes unsaved changes, also if what it takes back was saved. A saved insertion becomes a deletion; the
  /// object of a saved deletion is inserted again, and gets a new identifier.
  public func undo() {
    processPendingChanges()
    undoManager?.undo()
  }

  /// Processes pending changes, and redoes what the last undo has taken back. Does nothing without a manager, and if
  /// anything was changed or rolled back since.
  public func redo() {
    processPendingChanges()
    undoManager?.redo()
  }
}

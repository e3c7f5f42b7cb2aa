public import Foundation

/// Records actions that undo changes, in groups, and performs them. Foundation has this class on Apple's platforms only.
///
/// An action is registered while a group is open. ``undo()`` performs the actions of the last group, the last one first;
/// what is registered meanwhile becomes a group that ``redo()`` performs. A group without actions is dropped when it
/// ends.
///
/// ``groupsByEvent`` opens a group by itself. There may be no run loop whose turn could end it, so it ends with the
/// event of a context, ``NSManagedObjectContext/processPendingChanges()``, or else with ``undo()`` or
/// ``endUndoGrouping()``.
///
/// A manager may be used by one thread at a time; that of a context, on the queue of the context. Wrong nesting ends the
/// program.
///
/// `@unchecked Sendable`, because the class of Apple's platforms is bound to the main actor, and therefore `Sendable`:
/// code for both may make a manager on the main actor and hand it to another thread. The compiler does not check that
/// one thread at a time uses it.
open class UndoManager: NSObject, @unchecked Sendable {
  /// The closed groups at the top level, the last one at the end.
  private(set) var undoStack: [UndoGroup] = []
  private(set) var redoStack: [UndoGroup] = []
  /// The open groups, the outermost first.
  private(set) var openGroups: [UndoGroup] = []
  private var disabled = 0

  /// Makes a manager without actions, which groups by event.
  public override init() {}

  // MARK: Groups

  /// Whether registering an action opens a group if none is open, which ends with the event; true by default.
  open var groupsByEvent = true

  /// The number of groups that can be undone at most; older ones are forgotten. 0, the default, is no limit.
  open var levelsOfUndo = 0 {
    didSet { forgetOldest() }
  }

  /// The number of open groups.
  open var groupingLevel: Int { openGroups.count }

  /// Opens a group within the group that is open, if there is one.
  open func beginUndoGrouping() {
    if !openGroups.isEmpty { postCheckpoint() }
    openGroup(UndoGroup())
  }

  /// Ends the group that was opened last. It becomes an action of the group around it; without such a group, it can be
  /// undone, or, during an undo, redone.
  open func endUndoGrouping() {
    require(!openGroups.isEmpty, "endUndoGrouping() was called without beginUndoGrouping().")
    require(openGroups.count > 1 || !isPerforming, "An action has ended a group that it has not begun.")
    closeGroup()
  }

  private func openGroup(_ group: UndoGroup) {
    openGroups.append(group)
    post(.NSUndoManagerDidOpenUndoGroup)
  }

  private func closeGroup() {
    postCheckpoint()
    guard let group = openGroups.last else { return }
    post(.NSUndoManagerWillCloseUndoGroup, of: group)
    openGroups.removeLast()
    if !group.isEmpty { keep(group) }
    post(.NSUndoManagerDidCloseUndoGroup, of: group)
  }

  private func keep(_ group: UndoGroup) {
    if let outer = openGroups.last {
      outer.entries.append(.group(group))
    } else if isUndoing {
      redoStack.append(group)
    } else {
      undoStack.append(group)
    }
    forgetOldest()
  }

  private func forgetOldest() {
    guard levelsOfUndo > 0 else { return }
    undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
    redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
  }

  // MARK: Events

  /// Opens the group of an event, unless a group is open.
  func beginEvent() {
    guard groupsByEvent, openGroups.isEmpty, isUndoRegistrationEnabled else { return }
    openGroup(UndoGroup(isOfEvent: true))
  }

  /// Ends the group of an event, unless it has an open group.
  func endEvent() {
    if openGroups.count == 1, openGroups[0].isOfEvent { closeGroup() }
  }

  // MARK: Registering

  /// Whether actions are recorded. The calls of ``disableUndoRegistration()`` and ``enableUndoRegistration()`` are
  /// counted.
  open var isUndoRegistrationEnabled: Bool { disabled == 0 }

  /// Has no actions recorded until ``enableUndoRegistration()`` was called as often.
  ///
  /// A context registers its changes when it processes them: call ``NSManagedObjectContext/processPendingChanges()``
  /// before this method, and again before ``enableUndoRegistration()``.
  open func disableUndoRegistration() { disabled += 1 }

  /// Takes back one call of ``disableUndoRegistration()``.
  open func enableUndoRegistration() {
    require(disabled > 0, "enableUndoRegistration() was called without disableUndoRegistration().")
    disabled -= 1
  }

  /// Records an action of the open group. Without an open group, one is opened if the manager groups by event;
  /// otherwise the program ends. Forgets what could be redone, except during an undo or redo.
  ///
  /// The target is not retained: once it is gone, the action does nothing.
  public func registerUndo<TargetType: AnyObject>(
    withTarget target: TargetType, handler: @escaping (TargetType) -> Void
  ) {
    guard isUndoRegistrationEnabled else { return }
    beginEvent()
    guard let group = openGroups.last else {
      fatalError("An action was registered without a group: call beginUndoGrouping(), or set groupsByEvent.")
    }
    if !isPerforming { redoStack.removeAll() }
    group.entries.append(.action(UndoAction(target, handler)))
  }

  /// Forgets all actions, and enables registration. Open groups stay open.
  open func removeAllActions() {
    (undoStack, redoStack, disabled) = ([], [], 0)
    for group in openGroups { group.entries.removeAll() }
  }

  /// Forgets the actions of a target, and those whose target is gone.
  ///
  /// - Complexity: O(number of actions).
  open func removeAllActions(withTarget target: Any) {
    let target = target as AnyObject
    for group in undoStack + redoStack + openGroups { group.removeActions(withTarget: target) }
    undoStack.removeAll(where: \.isEmpty)
    redoStack.removeAll(where: \.isEmpty)
  }

  // MARK: Undo and redo

  /// Whether actions of an undo are being performed.
  open private(set) var isUndoing = false
  /// Whether actions of a redo are being performed.
  open private(set) var isRedoing = false

  private var isPerforming: Bool { isUndoing || isRedoing }

  /// Whether there is anything to undo. Contexts process their pending changes first.
  open var canUndo: Bool {
    postCheckpoint()
    return undoGroup != nil
  }

  /// Whether there is anything to redo. Contexts process their pending changes first.
  open var canRedo: Bool {
    postCheckpoint()
    return !redoStack.isEmpty
  }

  /// The number of groups that can be undone.
  open var undoCount: Int { undoStack.count }

  /// The number of groups that can be redone.
  open var redoCount: Int { redoStack.count }

  /// Ends the open group, if there is one, and undoes the last group. Ends the program if several groups are open, and
  /// during an undo or redo.
  open func undo() {
    requireIdle("undo()")
    postCheckpoint()
    require(openGroups.count < 2, "undo() was called with \(openGroups.count) open groups: call endUndoGrouping().")
    if !openGroups.isEmpty { endUndoGrouping() }
    undoNestedGroup()
  }

  /// Undoes the group that was closed last, in the open group if there is one. Does nothing if there is none. Ends the
  /// program if actions were registered in the open group since, and during an undo or redo.
  open func undoNestedGroup() {
    requireIdle("undoNestedGroup()")
    postCheckpoint()
    guard let outer = openGroups.last else {
      if let group = undoStack.popLast() { undo(group) }
      return
    }
    switch outer.entries.popLast() {
    case .group(let group): undo(group)
    case .action: fatalError("undoNestedGroup() was called with actions after the last group: call endUndoGrouping().")
    case nil: break
    }
  }

  /// Performs what the last undo has recorded. Does nothing if actions were registered since. Ends the program during
  /// an undo or redo.
  open func redo() {
    requireIdle("redo()")
    postCheckpoint()
    guard let group = redoStack.popLast() else { return }
    post(.NSUndoManagerWillRedoChange)
    isRedoing = true
    let outer = perform(group)
    isRedoing = false
    openGroups = outer.open
    if !outer.recorded.isEmpty { keep(outer.recorded) }
    post(.NSUndoManagerDidRedoChange)
  }

  private func undo(_ group: UndoGroup) {
    post(.NSUndoManagerWillUndoChange)
    isUndoing = true
    let outer = perform(group)
    if !outer.recorded.isEmpty { keep(outer.recorded) }
    isUndoing = false
    openGroups = outer.open
    post(.NSUndoManagerDidUndoChange)
  }

  /// Performs the actions of a group.
  ///
  /// - Returns: the group of what was registered meanwhile, and the groups that were open before.
  private func perform(_ group: UndoGroup) -> (recorded: UndoGroup, open: [UndoGroup]) {
    let open = openGroups
    let recorded = UndoGroup()
    openGroups = []
    openGroup(recorded)
    group.perform()
    postCheckpoint()
    require(openGroups.count == 1, "An action has begun a group that it has not ended.")
    post(.NSUndoManagerWillCloseUndoGroup, of: recorded)
    openGroups = []
    recorded.takeNotes(of: group)
    post(.NSUndoManagerDidCloseUndoGroup, of: recorded)
    return (recorded, open)
  }

  private func requireIdle(_ call: String) {
    require(!isPerforming, "\(call) was called by an action of an undo or redo.")
  }
}

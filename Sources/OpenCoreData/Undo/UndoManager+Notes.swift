/// What the application notes of a group: its name, whether it may be discarded, and anything else.
///
/// It is noted of the outermost open group, or, if none is open, of the last group that was closed. An undo hands it to
/// the group that can be redone, and a redo to the group that can be undone.
extension UndoManager {
  /// The group that a note is about.
  private var notedGroup: UndoGroup? { openGroups.first ?? undoStack.last }

  /// The group that would be undone.
  var undoGroup: UndoGroup? {
    if let open = openGroups.first, !open.isEmpty, !isUndoing { open } else { undoStack.last }
  }

  // MARK: Names

  /// Names the actions of a group; an empty name is none.
  public func setActionName(_ actionName: String) { notedGroup?.name = actionName }

  /// The name of the actions that would be undone; empty if they have none.
  public var undoActionName: String { undoGroup?.name ?? "" }

  /// The name of the actions that would be redone; empty if they have none.
  public var redoActionName: String { redoStack.last?.name ?? "" }

  /// The title of a menu item, such as "Undo Paste".
  public var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }

  /// The title of a menu item, such as "Redo Paste".
  public var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

  /// The title of a menu item that undoes actions with a name: "Undo", and the name if it is not empty.
  public func undoMenuTitle(forUndoActionName actionName: String) -> String { Self.title("Undo", actionName) }

  /// The title of a menu item that redoes actions with a name: "Redo", and the name if it is not empty.
  public func redoMenuTitle(forUndoActionName actionName: String) -> String { Self.title("Redo", actionName) }

  private static func title(_ verb: String, _ name: String) -> String { name.isEmpty ? verb : "\(verb) \(name)" }

  // MARK: Discardable groups

  /// Notes whether the changes of a group need not be saved.
  public func setActionIsDiscardable(_ discardable: Bool) { notedGroup?.isDiscardable = discardable }

  /// Whether the changes that would be undone need not be saved.
  public var undoActionIsDiscardable: Bool { undoGroup?.isDiscardable ?? false }

  /// Whether the changes that would be redone need not be saved.
  public var redoActionIsDiscardable: Bool { redoStack.last?.isDiscardable ?? false }

  // MARK: Anything else

  /// A key of what the application notes of a group.
  public struct UserInfoKey: RawRepresentable, Hashable, Sendable {
    /// The key as a text.
    public let rawValue: String

    /// Makes a key from a text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Makes a key from a text.
    public init(_ rawValue: String) { self.rawValue = rawValue }
  }

  /// Notes a value of a group; nil removes it.
  public func setActionUserInfoValue(_ info: Any?, forKey key: UserInfoKey) { notedGroup?.userInfo[key] = info }

  /// The value that was noted of the actions that would be undone.
  public func undoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { undoGroup?.userInfo[key] }

  /// The value that was noted of the actions that would be redone.
  public func redoActionUserInfoValue(forKey key: UserInfoKey) -> Any? { redoStack.last?.userInfo[key] }
}

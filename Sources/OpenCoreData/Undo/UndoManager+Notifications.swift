public import Foundation

extension NSNotification.Name {
  /// Posted by an ``UndoManager`` before it opens a nested group, ends a group, undoes, redoes, or tells whether it can.
  /// Contexts register their pending changes then.
  public static let NSUndoManagerCheckpoint = Notification.Name("NSUndoManagerCheckpointNotification")
  /// Posted by an ``UndoManager`` after it has opened a group.
  public static let NSUndoManagerDidOpenUndoGroup = Notification.Name("NSUndoManagerDidOpenUndoGroupNotification")
  /// Posted by an ``UndoManager`` before it ends a group; ``NSUndoManagerGroupIsDiscardableKey`` is set if the group is
  /// discardable.
  public static let NSUndoManagerWillCloseUndoGroup = Notification.Name("NSUndoManagerWillCloseUndoGroupNotification")
  /// Posted by an ``UndoManager`` after it has ended a group; ``NSUndoManagerGroupIsDiscardableKey`` is set if the group
  /// is discardable.
  public static let NSUndoManagerDidCloseUndoGroup = Notification.Name("NSUndoManagerDidCloseUndoGroupNotification")
  /// Posted by an ``UndoManager`` before it undoes a group.
  public static let NSUndoManagerWillUndoChange = Notification.Name("NSUndoManagerWillUndoChangeNotification")
  /// Posted by an ``UndoManager`` after it has undone a group.
  public static let NSUndoManagerDidUndoChange = Notification.Name("NSUndoManagerDidUndoChangeNotification")
  /// Posted by an ``UndoManager`` before it redoes a group.
  public static let NSUndoManagerWillRedoChange = Notification.Name("NSUndoManagerWillRedoChangeNotification")
  /// Posted by an ``UndoManager`` after it has redone a group.
  public static let NSUndoManagerDidRedoChange = Notification.Name("NSUndoManagerDidRedoChangeNotification")
}

/// The key of whether a group is discardable, in the user info of notifications.
public let NSUndoManagerGroupIsDiscardableKey = "NSUndoManagerGroupIsDiscardableKey"

extension UndoManager {
  func post(_ name: Notification.Name, of group: UndoGroup? = nil) {
    NotificationCenter.default.post(
      name: name, object: self,
      userInfo: group?.isDiscardable == true ? [NSUndoManagerGroupIsDiscardableKey: true] : nil)
  }

  func postCheckpoint() { post(.NSUndoManagerCheckpoint) }
}

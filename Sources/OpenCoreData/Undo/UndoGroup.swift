import Foundation

/// Actions that are undone together.
final class UndoGroup {
  enum Entry {
    case action(UndoAction)
    case group(UndoGroup)
  }

  var entries: [Entry] = []
  /// Whether it was opened because there was no group, and ends with the event.
  let isOfEvent: Bool
  /// The name of its actions; empty if they have none.
  var name = ""
  var isDiscardable = false
  var userInfo: [UndoManager.UserInfoKey: Any] = [:]

  init(isOfEvent: Bool = false) { self.isOfEvent = isOfEvent }

  var isEmpty: Bool { entries.isEmpty }

  /// Performs the actions, the last one first.
  func perform() {
    for entry in entries.reversed() {
      switch entry {
      case .action(let action): action.perform()
      case .group(let group): group.perform()
      }
    }
  }

  /// Takes over what the application has noted of the group that this one takes back, unless it has notes of its own.
  func takeNotes(of group: UndoGroup) {
    if name.isEmpty { name = group.name }
    if group.isDiscardable { isDiscardable = true }
    userInfo.merge(group.userInfo) { own, _ in own }
  }

  /// Drops the actions of a target, those whose target is gone, and groups that have no actions then.
  func removeActions(withTarget target: AnyObject) {
    entries.removeAll { entry in
      switch entry {
      case .action(let action): return action.target == nil || action.target === target
      case .group(let group):
        group.removeActions(withTarget: target)
        return group.isEmpty
      }
    }
  }
}

/// A call that undoes something.
struct UndoAction {
  private(set) weak var target: AnyObject?
  private let handler: (AnyObject) -> Void

  init<Target: AnyObject>(_ target: Target, _ handler: @escaping (Target) -> Void) {
    self.target = target
    self.handler = { target in
      guard let target = target as? Target else { return }
      handler(target)
    }
  }

  func perform() { if let target { handler(target) } }
}

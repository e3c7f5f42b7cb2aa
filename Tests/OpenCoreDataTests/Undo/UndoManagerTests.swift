import OpenCoreData
import Testing

@Suite("The undo manager") struct UndoManagerTests {
  /// A list of numbers whose changes can be undone.
  private final class Numbers {
    private(set) var values: [Int] = []
    unowned let manager: UndoManager

    init(_ manager: UndoManager) { self.manager = manager }

    func append(_ number: Int) {
      values.append(number)
      manager.registerUndo(withTarget: self) { $0.removeLast() }
    }

    func removeLast() {
      let number = values.removeLast()
      manager.registerUndo(withTarget: self) { $0.append(number) }
    }
  }

  private let manager = UndoManager()
  private let numbers: Numbers

  init() { numbers = Numbers(manager) }

  private func group(_ body: () -> Void) {
    manager.beginUndoGrouping()
    body()
    manager.endUndoGrouping()
  }

  // MARK: Groups

  @Test("A group is undone and redone as a whole.")
  func groups() {
    group { for number in 1...3 { numbers.append(number) } }
    group { numbers.append(4) }
    manager.undo()
    #expect(numbers.values == [1, 2, 3])
    manager.undo()
    #expect(numbers.values == [])
    #expect(!manager.canUndo && manager.canRedo)
    manager.redo()
    #expect(numbers.values == [1, 2, 3])
    manager.redo()
    #expect(numbers.values == [1, 2, 3, 4])
    #expect(manager.canUndo && !manager.canRedo)
    manager.undo()
    #expect(numbers.values == [1, 2, 3])
  }

  @Test("Without anything to undo or redo, nothing happens.")
  func nothing() {
    #expect(!manager.canUndo && !manager.canRedo)
    manager.undo()
    manager.undoNestedGroup()
    manager.redo()
    #expect(manager.groupingLevel == 0 && !manager.isUndoing && !manager.isRedoing)
  }

  @Test("Nested groups are undone with the group around them.")
  func nestedGroups() {
    group {
      numbers.append(1)
      group {
        #expect(manager.groupingLevel == 2)
        numbers.append(2)
        numbers.append(3)
      }
      numbers.append(4)
    }
    #expect(manager.undoCount == 1)
    manager.undo()
    #expect(numbers.values == [])
    #expect(manager.undoCount == 0 && manager.redoCount == 1)
    manager.redo()
    #expect(numbers.values == [1, 2, 3, 4])
  }

  @Test("A nested group can be undone alone, while the group around it is open.")
  func undoOfANestedGroup() {
    manager.beginUndoGrouping()
    numbers.append(1)
    group { numbers.append(2) }
    manager.undoNestedGroup()
    #expect(numbers.values == [1])
    #expect(manager.groupingLevel == 1)
    manager.redo()
    #expect(numbers.values == [1, 2])
    manager.endUndoGrouping()
    manager.undo()
    #expect(numbers.values == [])
  }

  @Test("An undo closes the open group.")
  func undoClosesTheGroup() {
    manager.beginUndoGrouping()
    numbers.append(1)
    #expect(manager.canUndo)
    manager.undo()
    #expect(numbers.values == [] && manager.groupingLevel == 0)
  }

  @Test("A group without actions is dropped.")
  func emptyGroups() {
    group {}
    group { group {} }
    #expect(!manager.canUndo && manager.undoCount == 0)
  }

  @Test("The first action opens the group of an event, which an undo ends.")
  func groupOfAnEvent() {
    #expect(manager.groupsByEvent)
    numbers.append(1)
    numbers.append(2)
    #expect(manager.groupingLevel == 1)
    manager.undo()
    #expect(numbers.values == [] && manager.groupingLevel == 0)
    numbers.append(3)
    manager.endUndoGrouping()
    numbers.append(4)
    manager.undo()
    #expect(numbers.values == [3])
  }

  @Test("A new action forgets what could be redone.")
  func newActions() {
    group { numbers.append(1) }
    manager.undo()
    group { numbers.append(2) }
    #expect(!manager.canRedo)
    manager.redo()
    #expect(numbers.values == [2])
  }

  @Test("Only the given number of groups is kept, the latest.", arguments: [1, 2, 3])
  func levels(_ limit: Int) {
    for number in 1...5 { group { numbers.append(number) } }
    manager.levelsOfUndo = limit
    group { numbers.append(6) }
    #expect(manager.undoCount == limit)
    while manager.canUndo { manager.undo() }
    #expect(numbers.values == Array(1...(6 - limit)))
    #expect(manager.redoCount == limit)
  }

  // MARK: Registration

  @Test("Actions are not recorded as long as registration is disabled.")
  func disabledRegistration() {
    manager.disableUndoRegistration()
    manager.disableUndoRegistration()
    manager.enableUndoRegistration()
    #expect(!manager.isUndoRegistrationEnabled)
    group { numbers.append(1) }
    #expect(!manager.canUndo)
    manager.enableUndoRegistration()
    #expect(manager.isUndoRegistrationEnabled)
    group { numbers.append(2) }
    manager.undo()
    #expect(numbers.values == [1])
  }

  @Test("All actions can be removed, and registration is enabled then.")
  func removal() {
    group { numbers.append(1) }
    group { numbers.append(2) }
    manager.undo()
    manager.disableUndoRegistration()
    manager.beginUndoGrouping()
    manager.removeAllActions()
    #expect(!manager.canUndo && !manager.canRedo && manager.isUndoRegistrationEnabled)
    manager.endUndoGrouping()
  }

  @Test("The actions of one target can be removed.")
  func removalOfATarget() {
    let others = Numbers(manager)
    group {
      numbers.append(1)
      others.append(2)
      group { numbers.append(3) }
    }
    group { numbers.append(4) }
    manager.removeAllActions(withTarget: numbers)
    #expect(manager.undoCount == 1)
    manager.undo()
    #expect(numbers.values == [1, 3, 4] && others.values == [])
  }

  @Test("A target is not retained, and its actions do nothing once it is gone.")
  func goneTargets() {
    var others: Numbers? = Numbers(manager)
    weak let observed = others
    group { others?.append(1) }
    others = nil
    #expect(observed == nil)
    manager.undo()
    #expect(!manager.canRedo)
  }

  @Test("The manager tells whether it is undoing or redoing.")
  func states() {
    final class Witness {
      var states: [[Bool]] = []
      func note(_ manager: UndoManager) {
        states.append([manager.isUndoing, manager.isRedoing])
        manager.registerUndo(withTarget: self) { [unowned manager] in $0.note(manager) }
      }
    }
    let witness = Witness()
    witness.note(manager)
    manager.undo()
    manager.redo()
    #expect(witness.states == [[false, false], [true, false], [false, true]])
  }

  @Test("A manager that is made on the main actor may be handed to other code, as on Apple's platforms.")
  func handing() async {
    let manager = await MainActor.run { UndoManager() }
    let numbers = Numbers(manager)
    numbers.append(1)
    manager.undo()
    #expect(numbers.values == [])
  }

  // MARK: Notes

  @Test("Names follow their actions from undo to redo, and are part of the titles.")
  func names() {
    #expect(manager.undoMenuItemTitle == "Undo" && manager.redoMenuItemTitle == "Redo")
    group {
      group {
        numbers.append(1)
        manager.setActionName("Count")
      }
    }
    group { numbers.append(2) }
    manager.setActionName("Add")
    #expect(manager.undoActionName == "Add" && manager.undoMenuItemTitle == "Undo Add")
    manager.undo()
    #expect(manager.undoActionName == "Count" && manager.redoActionName == "Add")
    #expect(manager.redoMenuItemTitle == "Redo Add")
    manager.undo()
    manager.redo()
    #expect(manager.undoActionName == "Count" && manager.redoActionName == "Add")
    manager.setActionName("")
    #expect(manager.undoMenuItemTitle == "Undo")
    #expect(manager.undoMenuTitle(forUndoActionName: "Typing") == "Undo Typing")
    #expect(manager.redoMenuTitle(forUndoActionName: "Typing") == "Redo Typing")
  }

  @Test("A group may be discardable, and have any values.")
  func otherNotes() {
    let key = UndoManager.UserInfoKey("place")
    group {
      numbers.append(1)
      manager.setActionIsDiscardable(true)
      manager.setActionUserInfoValue(7, forKey: key)
    }
    #expect(manager.undoActionIsDiscardable && !manager.redoActionIsDiscardable)
    #expect(manager.undoActionUserInfoValue(forKey: key) as? Int == 7)
    manager.undo()
    #expect(!manager.undoActionIsDiscardable && manager.redoActionIsDiscardable)
    #expect(manager.redoActionUserInfoValue(forKey: key) as? Int == 7)
    manager.redo()
    manager.setActionUserInfoValue(nil, forKey: key)
    #expect(manager.undoActionUserInfoValue(forKey: key) == nil)
  }

  // MARK: Notifications

  @Test("Notifications are posted in their order.")
  func notifications() {
    let posted = Posted(
      manager,
      [
        .NSUndoManagerCheckpoint, .NSUndoManagerDidOpenUndoGroup, .NSUndoManagerWillCloseUndoGroup,
        .NSUndoManagerDidCloseUndoGroup, .NSUndoManagerWillUndoChange, .NSUndoManagerDidUndoChange,
        .NSUndoManagerWillRedoChange, .NSUndoManagerDidRedoChange,
      ])
    group { numbers.append(1) }
    #expect(posted.take() == ["DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup"])
    manager.undo()
    #expect(
      posted.take() == [
        "Checkpoint", "Checkpoint", "WillUndoChange", "DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup",
        "DidCloseUndoGroup", "DidUndoChange",
      ])
    manager.redo()
    #expect(
      posted.take() == [
        "Checkpoint", "WillRedoChange", "DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup", "DidCloseUndoGroup",
        "DidRedoChange",
      ])
    group {
      manager.setActionIsDiscardable(true)
      numbers.append(2)
    }
    #expect(
      posted.take() == [
        "DidOpenUndoGroup", "Checkpoint", "WillCloseUndoGroup discardable", "DidCloseUndoGroup discardable",
      ])
    _ = manager.canRedo
    #expect(posted.take() == ["Checkpoint"])
  }

  /// The notifications of a manager.
  private final class Posted {
    private let names = Locked([String]())
    private var observers: [any NSObjectProtocol] = []

    init(_ manager: UndoManager, _ wanted: [Notification.Name]) {
      observers = wanted.map { name in
        NotificationCenter.default.addObserver(forName: name, object: manager, queue: nil) { [names] posted in
          let isDiscardable = posted.userInfo?[NSUndoManagerGroupIsDiscardableKey] as? Bool == true
          let text = name.rawValue.replacing("NSUndoManager", with: "").replacing("Notification", with: "")
          names.withLock { $0.append(text + (isDiscardable ? " discardable" : "")) }
        }
      }
    }

    deinit { for observer in observers { NotificationCenter.default.removeObserver(observer) } }

    func take() -> [String] {
      names.withLock { names in
        defer { names = [] }
        return names
      }
    }
  }
}

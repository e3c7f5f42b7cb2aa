import Foundation

/// Records what the application changes in a context that has an undo manager.
///
/// Each object is noted before its first change in an event. When changes are processed, what has become of the noted
/// objects is compared with the notes, and the difference is registered as one action.
final class UndoRecorder {
  let manager: UndoManager
  private(set) var notes: [ObjectNote] = []
  private var noted: Set<ObjectIdentifier> = []
  /// How often recording was paused, and not resumed.
  private var pauses = 0
  private let observer: any NSObjectProtocol

  init(_ manager: UndoManager, _ context: NSManagedObjectContext) {
    self.manager = manager
    let recorded = RecordedContext(context)
    observer = NotificationCenter.default.addObserver(
      forName: .NSUndoManagerCheckpoint, object: manager, queue: nil
    ) { _ in recorded.processChanges() }
  }

  deinit { NotificationCenter.default.removeObserver(observer) }

  var isPaused: Bool { pauses > 0 }

  /// Notes an object before it changes.
  ///
  /// - Parameter isNew: whether it is registered already, but about to be inserted.
  func note(_ object: NSManagedObject, isNew: Bool = false) {
    guard !isPaused, noted.insert(ObjectIdentifier(object)).inserted else { return }
    if notes.isEmpty { manager.beginEvent() }
    notes.append(ObjectNote(object, isNew ? .absent : object.presence))
  }

  /// Registers an action that takes back what has changed since the last call.
  func register(_ context: NSManagedObjectContext) {
    guard !notes.isEmpty else { return }
    let taken = takeNotes()
    guard !isPaused, manager.isUndoRegistrationEnabled else { return }
    let step = UndoStep(taken, context)
    guard !step.isEmpty else { return }
    manager.registerUndo(withTarget: context) { step.perform(in: $0) }
  }

  private func takeNotes() -> [ObjectNote] {
    defer { (notes, noted) = ([], []) }
    return notes
  }

  fileprivate func pause() { pauses += 1 }
  fileprivate func resume() { pauses = max(0, pauses - 1) }

  fileprivate func forget(_ context: NSManagedObjectContext) {
    _ = takeNotes()
    manager.removeAllActions(withTarget: context)
  }
}

/// A context whose manager posts on its queue. `@unchecked Sendable`: the context checks that.
private struct RecordedContext: @unchecked Sendable {
  private weak var context: NSManagedObjectContext?

  init(_ context: NSManagedObjectContext) { self.context = context }

  func processChanges() {
    guard let context, context.undoRecorder?.isPaused == false else { return }
    context.processChanges()
  }
}

/// Changes that are not those of the application.
extension NSManagedObjectContext {
  /// Has changes not recorded until ``resumeUndo()``. Those of the application are registered before.
  ///
  /// - Parameter forGood: whether all changes are going to be discarded instead, so that nothing can be undone.
  func pauseUndo(forGood: Bool = false) {
    guard let undoRecorder else { return }
    if forGood { undoRecorder.forget(self) } else if !undoRecorder.isPaused { processChanges() }
    undoRecorder.pause()
  }

  /// Takes back one call of ``pauseUndo(forGood:)``.
  func resumeUndo() {
    guard let undoRecorder else { return }
    processChanges()
    undoRecorder.resume()
  }
}

/// An object as it was before its first change in an event.
struct ObjectNote {
  let object: NSManagedObject
  let change: ObjectState.Change
  let presence: ObjectPresence
  /// The values; none for a fault.
  private let values: [ManagedValue]
  /// Copies of the members of to-many relationships, in the order of the layout.
  private let members: [RelatedObjects?]

  init(_ object: NSManagedObject, _ presence: ObjectPresence) {
    self.object = object
    self.presence = presence
    change = object.state.change
    values = object.values
    members =
      values.isEmpty
      ? []
      : object.layout.toManys.map { place in
        if case .members(let members) = object.values[place] { members.copy() } else { nil }
      }
  }

  /// The value of an attribute or a to-one relationship. If the object was a fault, its row must have been read since.
  func value(at place: Int) -> ManagedValue {
    if !values.isEmpty {
      if case .fault = values[place] {} else { return values[place] }
    }
    return object.snapshot?.values[place] ?? .null
  }

  /// The members of the to-many relationship with a number in the layout; nil if they were not read.
  func members(_ number: Int) -> RelatedObjects? { members.isEmpty ? nil : members[number] }
}

/// Whether an object is in its context.
enum ObjectPresence {
  case absent, deleted, present
}

extension NSManagedObject {
  final var presence: ObjectPresence {
    guard managedObjectContext != nil, state.change != .annihilated else { return .absent }
    return isDeleted ? .deleted : .present
  }
}

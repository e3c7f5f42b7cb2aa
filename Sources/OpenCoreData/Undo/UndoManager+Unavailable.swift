public import Foundation

// What needs the Objective-C runtime, or a run loop that every thread has. The compiler says what to do instead.

extension UndoManager {
  /// Exists on Apple's platforms only.
  @available(*, unavailable, message: "Selectors need the Objective-C runtime: use registerUndo(withTarget:handler:)")
  public func registerUndo(withTarget target: Any, selector: Selector, object anObject: Any?) {}

  /// Exists on Apple's platforms only.
  @available(*, unavailable, message: "Invocations need the Objective-C runtime: use registerUndo(withTarget:handler:)")
  public func prepare(withInvocationTarget target: Any) -> Any { target }

  /// Exists on Apple's platforms only.
  @available(*, unavailable, message: "No run loop ends the group of an event: NSManagedObjectContext does")
  public var runLoopModes: [RunLoop.Mode] {
    get { [] }
    set {}
  }
}

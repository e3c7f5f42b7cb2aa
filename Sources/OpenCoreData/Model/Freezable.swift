/// A part of a model: it may be changed until the model is used by a coordinator, and never again.
///
/// What can no longer change can be read from any thread.
protocol Freezable: AnyObject {
  var isFrozen: Bool { get }
}

extension Freezable {
  /// To be called before every change.
  func willChange() {
    precondition(!isFrozen, "The model is in use and cannot be changed; change a copy of it.")
  }
}

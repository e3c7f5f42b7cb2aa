/// A part of a model that can be changed only until the model is in use.
///
/// A frozen part can be read from any thread.
protocol Freezable: AnyObject {
  var isFrozen: Bool { get }
}

extension Freezable {
  /// To be called before every change.
  @inline(__always)
  func willChange() {
    require(!isFrozen, "The model is in use and cannot be changed; change a copy of it.")
  }
}

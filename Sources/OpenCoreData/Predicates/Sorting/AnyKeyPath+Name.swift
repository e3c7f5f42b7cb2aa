// Swift's standard library has this property, undocumented. On Apple's platforms it is the name of a property of an
// Objective-C class; here it is always nil. Libraries that make predicates of key paths read it. The compiler prefers
// the declaration of another module to that of the standard library.

extension AnyKeyPath {
  /// The names of the properties that a key path of managed objects reads, with dots between them; nil for any other
  /// key path, if no model in use has an entity of the class at which it begins, or if it does not only read
  /// properties.
  ///
  /// For libraries that rely on it. `NSExpression(forKeyPath:)` and `NSSortDescriptor(keyPath:ascending:)` take key
  /// paths themselves, and find the names when these are needed.
  public var _kvcKeyPathString: String? { (self as? any NamedKeyPath)?.name }
}

/// A key path whose types are known.
private protocol NamedKeyPath {
  var name: String? { get }
}

extension KeyPath: NamedKeyPath {
  fileprivate var name: String? { KeyPathReading.key(of: self) }
}

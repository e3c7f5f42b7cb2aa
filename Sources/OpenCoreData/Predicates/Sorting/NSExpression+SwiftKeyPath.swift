extension NSExpression {
  /// The value at the end of a Swift key path of managed objects, by the names of the properties that it reads.
  ///
  /// The names are found when the expression is first used, and a model in use must have an entity of the class then.
  /// Traps if the key path reads anything but properties of entities.
  public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
    self.init(KeyPathName("\(keyPath)") { KeyPathReading.key(of: keyPath) })
  }
}

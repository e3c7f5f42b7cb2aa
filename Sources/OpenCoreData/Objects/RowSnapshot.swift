/// What a context knows of an object's row: what was fetched or saved last.
///
/// Values are those of attributes and to-one relationships, the latter as identifiers. It never changes.
final class RowSnapshot {
  /// One for each slot.
  let values: [ManagedValue]
  let version: UInt64
  /// The version before, if this one is what our own save must have made of it and the store was not asked since.
  let versionBeforeSave: UInt64?

  init(values: [ManagedValue], version: UInt64, versionBeforeSave: UInt64? = nil) {
    self.values = values
    self.version = version
    self.versionBeforeSave = versionBeforeSave
  }

  /// Whether a row of this version has been changed by somebody else.
  ///
  /// A store that does not count answers with the version from before our save; that is no conflict.
  func isOutdated(by version: UInt64) -> Bool {
    guard let versionBeforeSave else { return version != self.version }
    return version > self.version || version < versionBeforeSave
  }
}

/// What a context knows of an object's row: what was fetched or saved last.
///
/// Values are those of attributes and to-one relationships, the latter as identifiers. Transient ones are of no row, but those that the
/// object had when it was read or saved. It never changes.
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

  /// The same with values at some places.
  func replacing(_ places: [Int], by new: [ManagedValue]) -> RowSnapshot {
    guard !places.isEmpty else { return self }
    var values = values
    for place in places {
      if case .object(let object) = new[place] {
        values[place] = .reference(object.objectID)
      } else {
        values[place] = new[place]
      }
    }
    return RowSnapshot(values: values, version: version, versionBeforeSave: versionBeforeSave)
  }

  /// Whether a row of this version has been changed by somebody else.
  ///
  /// A store that does not count answers with the version from before our save; that is no conflict.
  func isOutdated(by version: UInt64) -> Bool {
    guard let versionBeforeSave else { return version != self.version }
    return version > self.version || version < versionBeforeSave
  }
}

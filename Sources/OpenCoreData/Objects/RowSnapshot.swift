/// A context's version of an object's row: the values that were fetched or saved last.
///
/// The values are those of attributes and to-one relationships, the latter as identifiers. Transient values do not come
/// from the row; they are those that the object had when it was read or saved. A snapshot never changes.
final class RowSnapshot {
  private var content: RowValues
  let version: UInt64
  /// The number of the save that wrote the row; nil if the store does not tell. It tells rows apart that have the same
  /// version because one of them was deleted and inserted again.
  let revision: UInt64?
  /// The version before our own save, if `version` is the one that the save must have produced and the store has not
  /// been asked since; otherwise nil.
  let versionBeforeSave: UInt64?

  convenience init(
    values: [ManagedValue], version: UInt64, revision: UInt64? = nil, versionBeforeSave: UInt64? = nil
  ) {
    self.init(.decoded(values), version: version, revision: revision, versionBeforeSave: versionBeforeSave)
  }

  private init(_ content: RowValues, version: UInt64, revision: UInt64?, versionBeforeSave: UInt64?) {
    self.content = content
    self.version = version
    self.revision = revision
    self.versionBeforeSave = versionBeforeSave
  }

  convenience init(_ row: ManagedRow) {
    self.init(row.values, version: row.version, revision: row.revision, versionBeforeSave: nil)
  }

  /// One for each slot. The first call decodes the row.
  var values: [ManagedValue] {
    switch content {
    case .decoded(let values): return values
    case .encoded(let row):
      let values = row.values
      content = .decoded(values)
      return values
    }
  }

  /// Whether the row has not been decoded.
  var isEncoded: Bool {
    if case .encoded = content { true } else { false }
  }

  /// The value of a slot. Does not decode the others.
  func value(at place: Int) -> ManagedValue {
    switch content {
    case .decoded(let values): values[place]
    case .encoded(let row): row.value(at: place)
    }
  }

  /// A copy with other values at some places.
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
    return RowSnapshot(values: values, version: version, revision: revision, versionBeforeSave: versionBeforeSave)
  }

  /// Whether somebody else has changed the row, which now is that of a node.
  ///
  /// A store that does not count versions answers with the version from before our save; that is no conflict.
  func isOutdated(by node: NSIncrementalStoreNode) -> Bool {
    if let revision, let stored = (node as? any ManagedRowNode)?.managedRow.revision { return stored != revision }
    let version = node.version
    guard let versionBeforeSave else { return version != self.version }
    return version > self.version || version < versionBeforeSave
  }
}

/// A store that knows the names that its entities had before migrations.
package protocol RenamingStore: NSIncrementalStore {
  /// The name of the entity that had another name before; nil if there was none with that name. Any thread may call
  /// this.
  func entityName(formerly name: String) -> String?
}

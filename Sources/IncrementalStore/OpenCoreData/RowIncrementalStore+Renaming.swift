import OpenCoreData

extension RowIncrementalStore: RenamingStore {
  /// URIs that were saved before a migration renamed an entity still lead to its objects.
  package func entityName(formerly name: String) -> String? { access.schema.name(formerly: name) }
}

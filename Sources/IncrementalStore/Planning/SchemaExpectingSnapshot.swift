/// A snapshot of a database that can compare the revision of the schema's row when it answers another read, so that
/// nobody waits for the schema alone.
package protocol SchemaExpectingSnapshot: RowSnapshot {
  /// Has each read throw ``SchemaHasChanged`` until one has found that the schema's row has a revision.
  ///
  /// - Returns: False if that cannot be, as far as is known now. Then nothing is compared.
  func expect(schemaRevision: UInt64) -> Bool

  /// Compares the revision unless a read has done so.
  func compareSchema() throws
}

/// The schema is not the one that somebody expected. What was read for it counts for nothing.
package struct SchemaHasChanged: Error {
  package init() {}
}

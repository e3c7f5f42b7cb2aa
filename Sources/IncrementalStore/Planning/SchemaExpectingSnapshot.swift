/// A snapshot of a database that can compare the revision of the schema's row when it answers another read, so that
/// nobody waits for the schema alone.
package protocol SchemaExpectingSnapshot: RowSnapshot {
  /// Has each read throw ``SchemaHasChanged`` until one has found that the schema's row has a revision. A save is not
  /// made then either, nor if it changes a row that has another revision than the save was planned with: its closure is
  /// called again.
  ///
  /// - Parameter absent: References of rows that table 0 must not have.
  /// - Returns: False if that cannot be, as far as is known now. Then nothing is compared.
  func expect(schemaRevision: UInt64, absent: [RowReference]) -> Bool

  /// Compares the revision unless a read has done so.
  func compareSchema() throws
}

/// The schema, or another row of table 0, is not the one that somebody expected. What was read for it counts for nothing.
package struct SchemaHasChanged: Error {
  package init() {}
}

/// A snapshot that can pass over many entries without reading each of them.
package protocol EntrySkippingSnapshot: RowSnapshot {
  /// Skips the first entries of those from `lower` on and before `upper`, or the last ones if `reverse` is set.
  ///
  /// - Parameter most: How many entries are skipped at most. Only whole packs are skipped.
  /// - Returns: How many are skipped, and where the others begin: with the first at or above `bound`, or, if `reverse`
  ///   is set, with the last below it. Nil if none are skipped.
  func skipEntries(
    _ most: Int, from lower: [UInt8], before upper: [UInt8]?, reverse: Bool
  ) throws -> (count: Int, bound: [UInt8])?
}

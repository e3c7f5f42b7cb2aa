import OpenCoreData

/// Looks from time to time, while rows are read, whether the fetch was cancelled.
struct CancellationCheck {
  private var rows: UInt = 0

  /// - Throws: `CancellationError`.
  mutating func noteRow() throws {
    rows &+= 1
    if rows.isMultiple(of: 1024) { try FetchCancellation.check() }
  }
}

/// Whether a scan continues.
public enum ScanStep: Sendable {
  /// Go on to the next row.
  case next
  /// Stop after this row.
  case stop
}

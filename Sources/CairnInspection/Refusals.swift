package import Cairn

/// Errors for what was requested and does not exist.
extension StoreError {
  package static func noSegment(_ id: SegmentID, _ segments: [SegmentID]) -> StoreError {
    StoreError(
      .notFound,
      "there is no segment \(id); the segments are \(segments.map(String.init).joined(separator: ", "))")
  }

  package static func noFile(_ name: String, _ path: String) -> StoreError {
    StoreError(.notFound, "there is no \(name) in \(path)")
  }

  package static func notOrdered(_ keyspace: String) -> StoreError {
    StoreError(.notOrdered, "keyspace \(keyspace) is not ordered")
  }
}

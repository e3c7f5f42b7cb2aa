package import Cairn
package import RowFormat

/// What a store knows of a remote service: STORE-FORMAT.md, section 10.
extension ObjectStore {
  /// Nil for a store without a remote service.
  package func remoteHead() throws -> RemoteHead? {
    guard let row = try row(.integer(5), in: RowStructures.head) else { return nil }
    return try Self.reading("the head of the service") { () throws(RowDamage) in try RemoteHead(row) }
  }

  /// Calls `body` with the origins in the order of the references, and with an error for each row that is not one.
  package func forEachOrigin(
    _ body: (Result<(object: ObjectReference, origin: OriginRow), any Error>) throws -> ScanStep
  ) throws {
    try forEachRow(of: OriginRow.table) { key, bytes in
      try body(
        Result {
          guard let reference = RowReference(key) else { throw Self.wrong(key, "an origin") }
          let origin = try Self.reading("the origin of p\(reference)") { () throws(RowDamage) in try OriginRow(bytes) }
          return (ObjectReference(entity: origin.entity, reference: reference), origin)
        })
    }
  }

  /// Calls `body` with the changes in the outbox, the oldest first, and with an error for each row that is not one.
  package func forEachOutboxChange(
    _ body: (Result<(number: Int64, change: OutboxRow), any Error>) throws -> ScanStep
  ) throws {
    try forEachRow(of: OutboxRow.table) { key, bytes in
      try body(
        Result {
          guard case .integer(let number) = key else { throw Self.wrong(key, "a change for the service") }
          let what = "change \(number) for the service"
          return (number, try Self.reading(what) { () throws(RowDamage) in try OutboxRow(bytes) })
        })
    }
  }

  /// Calls `body` with the lists and how many objects are on the pages of each, and with an error for each row that is
  /// not a list, and for each list that lacks a page.
  package func forEachResult(
    _ body: (Result<(list: ResultRow, objects: Int), any Error>) throws -> ScanStep
  ) throws {
    try forEachRow(of: ResultRow.table) { key, bytes in
      guard case .string(let text) = key else { return try body(.failure(Self.wrong(key, "a list"))) }
      guard !text.utf8.contains(UInt8(ascii: "/")) else { return .next }
      return try body(
        Result {
          let list = try Self.reading("the list \(text)") { () throws(RowDamage) in try ResultRow(bytes) }
          return (list, try countOfObjects(on: list))
        })
    }
  }

  private func countOfObjects(on list: ResultRow) throws -> Int {
    var count = 0
    for page in 0..<list.pages {
      let reference = ResultRow.reference(of: page, list.generation, of: list.key)
      guard let bytes = try row(reference, in: ResultRow.table) else {
        throw StoreError(.corrupted, "the list \(Key.string(list.key).literal) lacks page \(page)")
      }
      count += try Self.reading("the page \(reference)") { () throws(RowDamage) in try ResultPage(bytes).objects.count }
    }
    return count
  }

  private static func wrong(_ key: Key, _ what: String) -> StoreError {
    StoreError(.corrupted, "\(what) is under \(key.literal)")
  }

  /// Whether an object is not loaded in whole; nil if there is no such object.
  package func isPartial(_ object: ObjectReference) throws -> Bool? {
    try row(object.reference, in: object.entity).map(RowFormat.FieldReader.isPartial)
  }
}

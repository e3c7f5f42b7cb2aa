import Cairn

/// Shows that a snapshot does not change: takes one, lets a second import update rows, and compares.
struct Standstill: Encodable {
  static let amendment = Importer.Amendment(prefix: "lib", line: "X-Cairn-Import: 2")

  struct State: Encodable, Equatable {
    let rows: Int
    let checksum: String
    /// Rows that end with the second import's line.
    let amended: Int
  }

  let sequence: UInt64
  /// The number of rows that the second import is to update, according to their names.
  let updatedRows: Int
  let seconds: Double
  /// How often the whole snapshot was read and compared while the import ran.
  let readsMeanwhile: Int
  let snapshotBefore: State
  let snapshotAfter: State
  let store: State

  /// Whether the snapshot stayed as it was, and the store has every update and as many rows as before.
  var holds: Bool {
    snapshotBefore == snapshotAfter && snapshotBefore.amended == 0
      && store.rows == snapshotBefore.rows && store.amended == updatedRows
      && (updatedRows == 0 || store.checksum != snapshotBefore.checksum)
  }

  init(
    _ catalogue: CatalogueStore, files: [PackageFile], progress: (_ bytes: Int, _ stanzas: Int) -> Void
  ) async throws {
    let snapshot = catalogue.store.snapshot()
    sequence = snapshot.sequence.rawValue
    let before = try Fingerprint(of: catalogue.packages, in: snapshot)
    snapshotBefore = try Self.state(of: catalogue, in: snapshot)
    updatedRows = try catalogue.packages.count(Queries.range(ofNamesWithPrefix: Self.amendment.prefix), at: snapshot)

    let reader = Task.detached { try Self.watch(snapshot, catalogue, expecting: before) }
    defer { reader.cancel() }
    let clock = ContinuousClock()
    let start = clock.now
    _ = try Importer(catalogue: catalogue, amendment: Self.amendment).run(files, progress: progress)
    seconds = (clock.now - start).inSeconds
    reader.cancel()
    readsMeanwhile = try await reader.value

    snapshotAfter = try Self.state(of: catalogue, in: snapshot)
    snapshot.close()
    store = try catalogue.store.read { try Self.state(of: catalogue, in: $0) }
  }

  /// Reads and compares the snapshot repeatedly until cancelled. Returns how often.
  private static func watch(
    _ snapshot: Snapshot, _ catalogue: CatalogueStore, expecting expected: Fingerprint
  ) throws -> Int {
    var reads = 0
    while !Task.isCancelled {
      guard try Fingerprint(of: catalogue.packages, in: snapshot) == expected else { throw SnapshotMoved() }
      reads += 1
    }
    return reads
  }

  private static func state(of catalogue: CatalogueStore, in snapshot: Snapshot) throws -> State {
    let fingerprint = try Fingerprint(of: catalogue.packages, in: snapshot)
    let ending = Array("\(amendment.line)\n".utf8)
    var amended = 0
    try catalogue.packages.scan(at: snapshot) { _, value, _ in
      if Span<UInt8>(_bytes: value).ends(with: ending.span) { amended += 1 }
      return .next
    }
    return State(rows: fingerprint.rows, checksum: fingerprint.checksum, amended: amended)
  }
}

/// The error for a snapshot that has changed.
struct SnapshotMoved: Error, CustomStringConvertible {
  let description = "the snapshot changed while rows were updated"
}

extension Span<UInt8> {
  fileprivate func ends(with other: Span<UInt8>) -> Bool {
    guard count >= other.count else { return false }
    let tail = extracting(last: other.count)
    return tail.indices.allSatisfy { tail[$0] == other[$0] }
  }
}

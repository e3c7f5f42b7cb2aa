import Synchronization

/// Writes the index as it was after one commit into a checkpoint, a piece at a time, while readers and the writer go
/// on.
///
/// Until it is done it holds that commit as a snapshot does. A hash page is copied, and each of its slots is redirected
/// to the version of that commit; a leaf is copied without the rows that are newer. Log addresses cannot tell whether a
/// row of the ordered index is new, so the committer notes new rows meanwhile.
///
/// Only one thread at a time may use it.
final class CheckpointCapture: @unchecked Sendable {
  private let index: Index
  private let log: Log
  private let committer: Committer
  private let keyspaces: [KeyspaceIndex]
  private var tables: CheckpointTables
  private let covered: Coverage
  private let file: any File
  private var nodes: NodeFile
  private var isOver = false

  private var current = 0
  private var phase = Phase.start

  private enum Phase {
    case start
    case pages(from: UInt32, [(span: HashIndex.PageSpan, address: UInt32)])
    case leaves(after: [UInt8]?, TreeBuilder)
  }

  /// Number of parts into which the older versions are divided.
  private let versionParts: Int

  /// Deleted rows that are in the indexes only because an older snapshot needs a version of them, by the addresses of
  /// their tombstones.
  private var tombstones: Set<LogAddress> = []
  /// The hashes of rows that the ordered indexes have and the checkpoint must not have.
  private var absent: Set<RowHash> = []

  private static let pagesAtOnce = 32
  private static let leavesAtOnce = 256
  private static let bucketsAtOnce = 4096

  /// nil while the log is empty, if all checkpoint ids are used up, or if the newest checkpoint is newer than the
  /// newest commit: such a checkpoint belongs to the commits after the one that the store was taken back to, and stays
  /// as it is until the first write.
  init?(index: Index, log: Log, committer: Committer) throws(StoreError) {
    let id = (log.manifest.newestCheckpoint?.id ?? 0).next
    let name = CheckpointTables.fileName(id)
    // Stored before the commit lock is taken: an epoch that begins after that does not remove the file.
    log.manifest.capturedCheckpoint.store(id, ordering: .releasing)
    guard id <= .highest, let start = committer.beginCapture(id: id) else { return nil }
    guard log.manifest.newestCheckpoint?.sequence ?? 0 <= start.tables.sequence else {
      committer.endCapture(start.tables.sequence)
      return nil
    }
    do throws(FileError) {
      // An existing file belongs to a checkpoint that was never finished.
      do throws(FileError) {
        try log.directory.remove(name)
      } catch {
        guard error.cause == .notFound else { throw error }
      }
      file = try log.directory.open(name, .create)
    } catch {
      committer.endCapture(start.tables.sequence)
      throw StoreError(error)
    }
    self.index = index
    self.log = log
    self.committer = committer
    (tables, keyspaces, logCovered) = start
    covered = Coverage(start.tables, index.table)
    versionParts = index.versions.bucketCount
    nodes = NodeFile(file)
    do throws(StoreError) {
      try findTombstones()
    } catch {
      abandon()
      throw error
    }
  }

  deinit { abandon() }

  /// Called when a leaf has been read, before rows that have been added since the capture began are left out.
  var leafWasRead: () -> Void = {}

  /// Bytes written to the log when the capture began, as `LogCounts.writtenBytes` counts them.
  let logCovered: Int

  /// Gives up, and removes the file.
  func abandon() {
    guard !isOver else { return }
    isOver = true
    committer.endCapture(tables.sequence)
    file.close()
    log.directory.removeIfPossible(CheckpointTables.fileName(tables.id))
  }

  /// Does a piece of the work; returns the checkpoint's entry once it is durable. A failure ends the capture.
  func step() throws(StoreError) -> Manifest.Checkpoint? {
    do throws(StoreError) {
      // A keyspace that has never had a row has no nodes.
      while current < keyspaces.count, keyspaces[current].locator.index.isBlank { nextKeyspace() }
      if current < keyspaces.count {
        try advance(keyspaces[current])
      } else if tables.hasRetention, tables.versionBuckets.count < versionParts {
        try copyVersions()
      } else {
        return try finish()
      }
      return nil
    } catch {
      abandon()
      throw error
    }
  }

  private func advance(_ keyspace: KeyspaceIndex) throws(StoreError) {
    switch phase {
    case .start:
      phase = .pages(from: 0, [])
    case .pages(let position, var pages):
      if let next = try copyPages(keyspace, from: position, &pages) {
        phase = .pages(from: next, pages)
      } else {
        tables.keyspaces[current].directory = Self.directory(pages)
        phase = .leaves(after: nil, TreeBuilder())
        if keyspace.tree == nil { nextKeyspace() }
      }
    case .leaves(let bound, var builder):
      guard let tree = keyspace.tree else { return nextKeyspace() }
      if let next = try copyLeaves(tree, after: bound, &builder) {
        phase = .leaves(after: next, builder)
      } else {
        tables.keyspaces[current].root = try builder.finish(to: &nodes)
        nextKeyspace()
      }
    }
  }

  private func nextKeyspace() {
    current += 1
    phase = .start
  }

  // MARK: Rows by hash

  private func copyPages(
    _ keyspace: KeyspaceIndex, from start: UInt32, _ pages: inout [(span: HashIndex.PageSpan, address: UInt32)]
  ) throws(StoreError) -> UInt32? {
    var position: UInt32? = start
    for _ in 0..<Self.pagesAtOnce {
      guard let from = position else { break }
      let pin = index.eras.pin()
      defer { index.eras.unpin(pin) }
      let (address, span) = try unsafe nodes.add(HashIndex.pageSize) { (memory) throws(StoreError) in
        try unsafe keyspace.locator.index.copyPage(from: from, to: memory) { (address) throws(StoreError) in
          if covered.contains(address) { return tombstones.isEmpty || !tombstones.contains(address) ? address : nil }
          return try addressAtCheckpoint(keyspace, address)
        }
      }
      pages.append((span, address))
      position = span.next
    }
    return position
  }

  /// The address of a row as of the checkpoint's commit; nil if the row did not exist then. `address` is that of its
  /// newest record, which is after the end of the checkpoint's log.
  private func addressAtCheckpoint(_ keyspace: KeyspaceIndex, _ address: LogAddress) throws(StoreError) -> LogAddress? {
    guard let record = index.table.record(address) else { throw keyspace.locator.corruption(address) }
    guard record.header.sequence > tables.sequence else { return tombstones.contains(address) ? nil : address }
    return index.versions.find(unsafe keyspace.hash(record.key), asOf: tables.sequence)
  }

  /// The directory of a hash index. Pages that have split meanwhile are deeper than others.
  private static func directory(_ pages: [(span: HashIndex.PageSpan, address: UInt32)]) -> [UInt32] {
    let depth = pages.reduce(0) { max($0, $1.span.depth) }
    return pages.flatMap { page in repeatElement(page.address, count: 1 << Int(depth - page.span.depth)) }
  }

  private func findTombstones() throws(StoreError) {
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    let byID = Dictionary(uniqueKeysWithValues: keyspaces.map { ($0.id, $0) })
    let unkept = index.versions.versions { version, expiredBy in expiredBy <= tables.sequence }
    for row in unkept {
      guard let keyspace = byID[row.keyspace], let found = unsafe try keyspace.locator.find(row.hash) else { continue }
      let versions = index.versions.all(row.hash, asOf: tables.sequence)
      guard !versions.contains(where: { $0.supersededBy <= tables.sequence }) else { continue }
      let record = unsafe found.record
      if record.header.sequence <= tables.sequence {
        guard record.header.isTombstone else { continue }
        tombstones.insert(unsafe found.address)
        absent.insert(row.hash)
      } else if index.versions.find(row.hash, asOf: tables.sequence) == nil {
        absent.insert(row.hash)
      }
    }
  }

  // MARK: Rows in order

  private func copyLeaves(
    _ tree: OrderedIndex, after start: [UInt8]?, _ builder: inout TreeBuilder
  ) throws(StoreError) -> [UInt8]? {
    try LeafEntries.with { (entries) throws(StoreError) -> [UInt8]? in
      var bound = start
      for _ in 0..<Self.leavesAtOnce {
        let pin = index.eras.pin()
        defer { index.eras.unpin(pin) }
        let (prefix, fence) = try unsafe tree.leaf(from: bound, into: &entries)
        leafWasRead()
        // New rows are noted before they are added to a leaf.
        absent.formUnion(index.newRows.take())
        if !absent.isEmpty { entries.removeAll { absent.contains($0) } }
        let next = fence?.bytes
        // Empty leaves are left out, except that the tree must have at least one leaf.
        if entries.count > 0 || (next == nil && builder.isEmpty) {
          let leaf = try unsafe nodes.add(Leaf.size) { (memory) in
            unsafe Leaf(memory).initialize(entries[0..<entries.count], prefix: prefix)
          }
          try builder.add(leaf, after: bound ?? [], to: &nodes)
        }
        guard let next else { return nil }
        bound = next
      }
      return bound
    }
  }

  // MARK: Older versions

  private func copyVersions() throws(StoreError) {
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    let known = Set(tables.keyspaces.map(\.id))
    for _ in 0..<min(Self.bucketsAtOnce, versionParts - tables.versionBuckets.count) {
      let versions = index.versions.versions(part: tables.versionBuckets.count, of: versionParts) {
        version, expiredBy in
        version.supersededBy <= tables.sequence && tables.sequence < expiredBy && known.contains(version.keyspace)
      }
      tables.versionBuckets.append(try VersionTable.write(versions, to: &nodes))
      tables.versionCount += versions.count
    }
  }

  // MARK: The end

  private func finish() throws(StoreError) -> Manifest.Checkpoint {
    committer.endCapture(tables.sequence)
    isOver = true
    let length: Int
    do throws(StoreError) {
      defer { file.close() }
      length = try nodes.finish(tables)
      // The checkpoint must not contain anything newer than what is durable.
      try log.syncs.sync(upTo: tables.sequence, through: tables.place)
      do throws(FileError) {
        try file.sync()
        try log.directory.sync()
      } catch {
        throw StoreError(error)
      }
    } catch {
      log.directory.removeIfPossible(CheckpointTables.fileName(tables.id))
      throw error
    }
    let entry = Manifest.Checkpoint(
      id: tables.id, sequence: tables.sequence, place: tables.place, length: length)
    try log.manifest.publish(entry)
    return entry
  }
}

/// A checkpoint in memory. All of it has been verified, except that its nodes are consistent.
struct CheckpointImage {
  let tables: CheckpointTables
  let memory: PrivateMapping

  init(
    _ entry: Manifest.Checkpoint, _ manifest: Manifest, directory: any Directory, table: SegmentTable
  ) throws(CheckpointTables.Problem) {
    let length: Int
    do throws(FileError) {
      let file = try directory.open(CheckpointTables.fileName(entry.id), .read)
      defer { file.close() }
      length = try file.size()
      memory = try file.mapPrivately(length)
    } catch {
      throw CheckpointTables.Problem(error)
    }
    guard length == entry.length else {
      throw CheckpointTables.Problem("it has \(length) bytes instead of \(entry.length)")
    }
    tables = try unsafe CheckpointTables(UnsafeRawBufferPointer(start: memory.base, count: length))
    guard tables.store == manifest.store, tables.hashSeed == manifest.hashSeed, tables.id == entry.id,
      tables.sequence == entry.sequence, tables.place == entry.place, tables.extentShift == table.extentShift,
      tables.extentCount <= table.extentLimit
    else { throw CheckpointTables.Problem("it belongs to another log") }
    guard matches(manifest) else { throw CheckpointTables.Problem("its segments are not those of the log") }
  }

  /// Whether the log is still the one that the checkpoint refers to, except for segments that have been compacted
  /// since.
  private func matches(_ manifest: Manifest) -> Bool {
    guard let last = tables.segments.element(tables.place.segment), last.end == tables.place.offset,
      last.lastSequence == tables.sequence
    else { return false }
    for entry in manifest.segments {
      guard let segment = tables.segments.element(entry.id) else {
        if entry.id < last.id { return false }
        continue
      }
      guard segment.end >= SegmentHeader.size else { return false }
      if let end = entry.end, entry.id == last.id ? end < segment.end : end != segment.end { return false }
    }
    return tables.keyspaces.allSatisfy { keyspace in
      guard let known = manifest.keyspaces.element(keyspace.id) else { return false }
      return keyspace.directory.isEmpty || known.isOrdered == (keyspace.root != 0)
    }
  }

  /// Whether the nodes lead only to nodes and records, to each node of a tree once, and each tree has as many entries
  /// as there are rows in the hash index. Looks at every slot, every node and every head.
  func isSound(_ arena: Arena, _ manifest: Manifest, _ table: SegmentTable) -> Bool {
    let addressEnd = LogAddress(UInt64(tables.extentCount) << UInt64(tables.extentShift))
    var trees = TreeCheck(arena, nodesEnd: tables.nodesEnd)
    let known = Set(tables.keyspaces.map(\.id))
    let hasSoundVersions =
      !tables.hasRetention
      || VersionTable.isSound(
        arena, heads: tables.versionBuckets, count: tables.versionCount, nodesEnd: tables.nodesEnd,
        upTo: tables.sequence, isCovered: Coverage(tables, table).contains, isKnown: known.contains)
    return hasSoundVersions
      && tables.keyspaces.allSatisfy { keyspace in
        guard !keyspace.directory.isEmpty else { return true }
        let rows = HashIndex.count(
          arena, directory: keyspace.directory, nodesEnd: tables.nodesEnd, addressEnd: addressEnd)
        guard let rows else { return false }
        let before = trees.entryCount
        return keyspace.root == 0 || trees.isSound(keyspace.root) && trees.entryCount - before == rows
      }
  }
}

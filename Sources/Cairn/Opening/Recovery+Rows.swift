import Synchronization

/// Applying records to the index.
extension Recovery {
  mutating func apply(_ record: RecordView, _ segment: Segment, _ offset: Int) throws(StoreError) {
    report.records += 1
    let header = record.header
    switch header.kind {
    case .keyspaceDefinition: try define(record, at: Place(segment: segment.id, offset: offset))
    case .keyspaceDropped:
      keyspaces.drop(header.keyspace)
      try replay.drop(header.keyspace)
    case .put, .tombstone:
      segment.use(dictionary: header.dictionary)
      guard try !replay.add(record, at: table.address(extent: segment.extent, offset: offset), in: segment) else {
        return
      }
      keyspaces.miss(header.keyspace, at: Place(segment: segment.id, offset: offset))
    case .dictionary:
      // An invalid dictionary is an error only for the values that need it.
      if let dictionary = StoredDictionary(record) { index.dictionaries.add(dictionary) }
    case .retention:
      guard header.keyLength == 0, let oldVersions = record.oldVersions else {
        throw StoreError(.damaged, "a retention is invalid", place: Place(segment: segment.id, offset: offset))
      }
      guard try !replay.retain(header.keyspace, oldVersions: oldVersions, since: header.sequence) else { return }
      keyspaces.miss(header.keyspace, at: Place(segment: segment.id, offset: offset))
    case nil:
      throw StoreError(.newerFormat, "the log has records of a kind that this version does not know")
    }
  }

  private mutating func define(
    _ record: RecordView, at place: Place, mayRetain: Bool = false
  ) throws(StoreError) {
    guard let order = unsafe record.stored.first, order <= 1,
      let name = unsafe String(validating: record.key, as: UTF8.self)
    else { throw StoreError(.damaged, "a keyspace's definition is invalid", place: place) }
    let header = record.header
    guard !keyspaces.isDropped(header.keyspace) else { return }
    let keyspace = index.restore(header.keyspace, name, isOrdered: order == 0, definedAt: header.sequence)
    replay.enter(keyspace, mayRetain: mayRetain)
  }

  /// Enters the keyspaces whose definitions compaction has moved, before the records are read. If one was dropped after
  /// the last commit to be read, the manifest need not list it, and its definition may come after its records.
  mutating func enterMovedDefinitions() throws(StoreError) {
    let mayRetain = manifest.features & Format.retention != 0
    for source in sources {
      guard case .header(let header) = source.header, header.kind == .compacted,
        header.compactedSequence <= lastWanted
      else { continue }
      let end = min(source.entry.end ?? 0, source.bytes.length)
      var offset = SegmentHeader.size
      // Damage is found when the segment is read.
      while offset < end, let frame = frame(source.bytes, header, at: offset, end) {
        try frame.forEachRecord { (record, offset) throws(StoreError) in
          guard record.header.kind == .keyspaceDefinition, record.header.sequence > checkpoint?.sequence ?? 0 else {
            return
          }
          try define(record, at: Place(segment: source.id, offset: offset), mayRetain: mayRetain)
        }
        offset += frame.header.length
      }
    }
  }

  /// Finds what compaction and checkpoints left when they were interrupted.
  mutating func findLeftovers() throws(StoreError) {
    let usedSequence = checkpoint?.sequence ?? 0
    found.uselessCheckpoints = Set(manifest.checkpoints.filter { $0.sequence > usedSequence }.map(\.id))
    let moves = checkpoint?.moves ?? [:]
    found.moveLists.segments = Set(moves.keys)
    found.moveLists.hasMoved =
      checkpoint.map { checkpoint in
        !moves.isEmpty
          || checkpoint.tables.segments.contains { known in manifest.segments.index(of: known.id) == nil }
      } ?? true
    guard !isReadOnly else { return }
    let used = Set(
      manifest.segments.map { Segment.fileName($0.id) } + moves.keys.map { MoveList.fileName($0) }
        + manifest.checkpoints.map { CheckpointTables.fileName($0.id) })
    do throws(FileError) {
      found.unlisted = try directory.list().filter { name in
        [".segment", ".moves", ".checkpoint"].contains { name.hasSuffix($0) } && !used.contains(name)
      }
    } catch {
      throw StoreError(error)
    }
  }
}

import Synchronization

/// What compaction reads from the log and changes in it.
extension Log {
  /// The segments that compaction may take: durable and complete.
  var compactable: [Segment] {
    let sealed = manifest.withLock { manifest in
      Set(manifest.segments.lazy.filter { $0.end != nil }.map(\.id))
    }
    return segments.withLock { $0 }.filter { segment in
      sealed.contains(segment.id) && !segment.isQuarantined.load(ordering: .relaxed)
    }
  }

  /// Seals the segments before one that the background work has not sealed yet.
  func sealSegments(before active: Segment) {
    let open = manifest.withLock { manifest in Set(manifest.segments.lazy.filter { $0.end == nil }.map(\.id)) }
    for segment in segments.withLock({ $0 }) where segment.id < active.id && open.contains(segment.id) { seal(segment) }
  }

  /// Creates a file for compaction to write, with room for `size` bytes.
  func createCompacted(
    epoch: UInt32, size: Int, baseSequence: CommitSequence, compactedSequence: CommitSequence
  ) throws(StoreError) -> (header: SegmentHeader, file: any File, mapping: any Mapping) {
    let id = manifest.withLock { manifest in
      defer { manifest.nextSegment = manifest.nextSegment.next }
      return manifest.nextSegment
    }
    guard id <= .highest else { throw Self.usedUp }
    let name = Segment.fileName(id)
    let header = SegmentHeader(
      kind: .compacted, store: store, id: id, epoch: epoch, baseSequence: baseSequence, created: environment.clock(),
      watermark: watermark, recoveredEnd: Place(segment: 0, offset: 0), compactedSequence: compactedSequence)
    let file = try reserve.lend(to: .compaction) { () throws(StoreError) in
      try attempt { () throws(FileError) in try create(name, size) }
    }
    do throws(FileError) {
      let mapping = try file.map(size)
      try file.writeAll(header.encoded(), at: 0)
      return (header, file, mapping)
    } catch {
      discard(file, name)
      throw StoreError(error)
    }
  }

  /// Removes the files of a segment that compaction has written and that will not be listed.
  func removeFiles(of segment: Segment) {
    remove(Segment.fileName(segment.id))
    remove(MoveList.fileName(segment.id))
  }

  /// Makes a segment that compaction has written durable, and the list of the records that have moved there.
  func harden(_ segment: Segment, _ list: MoveList?) throws(StoreError) {
    try attempt { () throws(FileError) in
      try segment.file.truncate(segment.end.load(ordering: .relaxed))
      try segment.file.sync()
    }
    try list.map(write)
    try attempt { () throws(FileError) in try directory.sync() }
  }

  private func write(_ list: MoveList) throws(StoreError) {
    let bytes = list.encoded()
    let file = try reserve.lend(to: .compaction) { () throws(StoreError) in
      try attempt { () throws(FileError) in try create(MoveList.fileName(list.segment), bytes.count) }
    }
    defer { file.close() }
    try attempt { () throws(FileError) in
      try file.writeAll(bytes, at: 0)
      try file.sync()
    }
  }

  /// Whether the newest checkpoint needs a move list to find the records of a segment.
  func hasMoves(_ segment: SegmentID) -> Bool { moveLists.withLock { $0.segments.contains(segment) } }

  func moveList(_ segment: Segment) throws(StoreError) -> MoveList {
    let name = MoveList.fileName(segment.id)
    let bytes = try attempt { () throws(FileError) in
      let file = try directory.open(name, .read)
      defer { file.close() }
      return try file.readAll(atMost: MoveList.maximumLength(segment: segment.end.load(ordering: .relaxed)))
    }
    guard let list = unsafe bytes.withUnsafeBytes({ unsafe MoveList($0) }) else {
      throw StoreError(.damaged, "\(name) is damaged")
    }
    return list
  }

  /// Whether the manifest lists a keyspace.
  func lists(keyspace: KeyspaceID) -> Bool { manifest.withLock { $0.keyspaces.index(of: keyspace) != nil } }

  /// The ids, in order, of the segments with values that may be compressed with a dictionary.
  func segmentsUsing(dictionary: DictionaryID) -> [SegmentID] {
    segments.withLock { $0 }.filter { segment in segment.dictionaries.withLock { $0.contains(dictionary) } }
      .map(\.id).sorted()
  }

  /// Replaces the inputs of a compaction by its output, which is durable, in the manifest: in one step.
  func replace(_ inputs: [Segment], by output: Segment?, keepsCheckpoint: Bool) throws(StoreError) {
    let ids = Set(inputs.map(\.id))
    try reserve.lend(to: .compaction) { () throws(StoreError) in
      // A checkpoint before the newest would not find the records that have moved.
      try replaceCheckpoints({ keepsCheckpoint ? $0.suffix(1) : [] }) { entries in
        entries.removeAll { ids.contains($0.id) }
        guard let output else { return }
        let entry = Manifest.Segment(
          id: output.id, epoch: output.epoch, end: output.end.load(ordering: .relaxed),
          baseSequence: output.baseSequence, lastSequence: output.purgedSequence)
        entries.insert(entry, at: entries.firstIndex { $0.id > output.id } ?? entries.endIndex)
      }
    }
    moveLists.withLock { lists in
      lists.hasMoved = true
      if keepsCheckpoint, let output { lists.segments.insert(output.id) }
    }
    if let output { list(output) }
  }

  func list(_ segment: Segment) {
    segments.withLock { segments in
      segments.insert(segment, at: segments.firstIndex { $0.id > segment.id } ?? segments.endIndex)
    }
  }

  /// Removes segments from the log to which no index refers any more and that the manifest does not list. Readers that
  /// are using them continue.
  func retire(_ inputs: [Segment]) {
    let ids = Set(inputs.map(\.id))
    segments.withLock { $0.removeAll { ids.contains($0.id) } }
    tail.withLock { $0.segments.removeAll { ids.contains($0.id) } }
    // A thread that is syncing may be using them.
    turns.waitForCurrent()
    for segment in inputs { remove(Segment.fileName(segment.id)) }
    let lists = moveLists.withLock { lists in
      defer { lists.segments.subtract(ids) }
      return lists.segments.intersection(ids)
    }
    for segment in lists.sorted() { remove(MoveList.fileName(segment)) }
    do throws(FileError) { try directory.sync() } catch { _ = poison(error) }
  }
}

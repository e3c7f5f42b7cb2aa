import Synchronization

/// What compaction reads from the log and changes in it.
extension Log {
  /// The segments that compaction may take: durable and complete.
  var compactable: [Segment] {
    let sealed = manifest.sealedSegments
    return segments.withLock { $0 }.filter { segment in
      sealed.contains(segment.id) && !segment.isQuarantined.load(ordering: .relaxed)
    }
  }

  /// Creates a file for compaction to write, with room for `size` bytes.
  func createCompacted(
    epoch: UInt32, size: Int, baseSequence: CommitSequence, compactedSequence: CommitSequence
  ) throws(StoreError) -> (header: SegmentHeader, file: any File, mapping: any Mapping) {
    let id = try manifest.takeSegmentID()
    let name = Segment.fileName(id)
    let header = SegmentHeader(
      kind: .compacted, store: store, id: id, epoch: epoch, baseSequence: baseSequence, created: environment.clock(),
      watermark: syncs.durable.watermark, recoveredEnd: Place(segment: 0, offset: 0),
      compactedSequence: compactedSequence)
    let file = try createForCompaction(name, size)
    do throws(FileError) {
      let mapping = try file.map(size)
      try file.writeAll(header.encoded(), at: 0)
      return (header, file, mapping)
    } catch {
      directory.discard(file, name)
      throw StoreError(error)
    }
  }

  private func createForCompaction(_ name: String, _ size: Int) throws(StoreError) -> any File {
    try reserve.lend(to: .compaction) { () throws(StoreError) in
      try StoreError.wrap { () throws(FileError) in try directory.create(name, reserving: size) }
    }
  }

  /// Removes the files of a segment that compaction has written and that will not be listed.
  func removeFiles(of segment: Segment) {
    directory.removeIfPossible(Segment.fileName(segment.id))
    directory.removeIfPossible(MoveList.fileName(segment.id))
  }

  /// Makes a segment that compaction has written durable, and the list of the records that have moved there.
  func harden(_ segment: Segment, _ list: MoveList?) throws(StoreError) {
    try StoreError.wrap { () throws(FileError) in
      try segment.file.truncate(segment.end.load(ordering: .relaxed))
      try segment.file.sync()
    }
    try list.map(write)
    try StoreError.wrap { () throws(FileError) in try directory.sync() }
  }

  private func write(_ list: MoveList) throws(StoreError) {
    let bytes = list.encoded()
    let file = try createForCompaction(MoveList.fileName(list.segment), bytes.count)
    defer { file.close() }
    try StoreError.wrap { () throws(FileError) in
      try file.writeAll(bytes, at: 0)
      try file.sync()
    }
  }

  func moveList(_ segment: Segment) throws(StoreError) -> MoveList {
    let name = MoveList.fileName(segment.id)
    let bytes = try StoreError.wrap { () throws(FileError) in
      let file = try directory.open(name, .read)
      defer { file.close() }
      return try file.readAll(atMost: MoveList.maximumLength(segment: segment.end.load(ordering: .relaxed)))
    }
    guard let list = unsafe bytes.withUnsafeBytes({ unsafe MoveList($0) }) else {
      throw StoreError(.damaged, "\(name) is damaged")
    }
    return list
  }

  /// The ids, in order, of the segments with values that may be compressed with a dictionary.
  func segmentsUsing(dictionary: DictionaryID) -> [SegmentID] {
    segments.withLock { $0 }.filter { segment in segment.dictionaries.withLock { $0.contains(dictionary) } }
      .map(\.id).sorted()
  }

  /// Replaces the inputs of a compaction by its output, which is durable, in the manifest: in one step.
  func replace(
    _ inputs: [Segment], by output: Segment?, forgotten: CommitSequence, keepsCheckpoint: Bool
  ) throws(StoreError) {
    try reserve.lend(to: .compaction) { () throws(StoreError) in
      try manifest.replace(
        Set(inputs.map(\.id)), by: output, forgotten: forgotten, keepsCheckpoint: keepsCheckpoint)
    }
    list(output, inPlaceOf: inputs)
  }

  /// Removes segments from the log to which no index refers any more and that the manifest does not list. Readers that
  /// are using them continue.
  func retire(_ inputs: [Segment]) {
    let ids = Set(inputs.map(\.id))
    segments.withLock { $0.removeAll { ids.contains($0.id) } }
    syncs.remove(ids)
    for segment in inputs { directory.removeIfPossible(Segment.fileName(segment.id)) }
    manifest.removeMoveLists(of: ids)
    do throws(FileError) { try directory.sync() } catch { _ = failure.poison(error) }
  }
}

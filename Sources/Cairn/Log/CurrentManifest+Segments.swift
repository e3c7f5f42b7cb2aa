import Synchronization

/// A file for the next segment, with space reserved.
struct PreparedSegment {
  let id: SegmentID
  let file: any File
  var reserved: Int
}

/// Which segments the manifest lists.
extension CurrentManifest {
  /// Creates the next segment, unless that has been done.
  func prepareSegment(reserving size: Int) throws(StoreError) {
    try withLock { (manifest) throws(StoreError) in
      guard prepared.withLock({ $0 == nil }) else { return }
      let next = try addSegment(to: &manifest, manifest, reserving: size)
      prepared.withLock { $0 = next }
    }
  }

  /// Creates the next segment and replaces the manifest by `changed` with that segment added.
  func addSegment(
    to manifest: inout Manifest, _ changed: Manifest, reserving size: Int
  ) throws(StoreError) -> PreparedSegment {
    let id = manifest.nextSegment
    guard id <= .highest else { throw Log.usedUp }
    let name = Segment.fileName(id)
    // An existing file of that name is left from a crash before the manifest listed it.
    let file = try StoreError.wrap { () throws(FileError) in try directory.create(name, reserving: size) }
    var changed = changed
    changed.segments.append(Manifest.Segment(id: id))
    changed.nextSegment = id.next
    do throws(StoreError) {
      try replace(&manifest, changed) { () throws(FileError) in
        try file.sync()
        try directory.sync()
      }
    } catch {
      if error.code != .poisoned { directory.discard(file, name) }
      throw error
    }
    return PreparedSegment(id: id, file: file, reserved: size)
  }

  /// The number for a segment that compaction writes.
  func takeSegmentID() throws(StoreError) -> SegmentID {
    let id = withLock { manifest in
      defer { manifest.nextSegment = manifest.nextSegment.next }
      return manifest.nextSegment
    }
    guard id <= .highest else { throw Log.usedUp }
    return id
  }

  func seal(_ segment: Segment) {
    withLock { manifest in
      manifest.seal(segment)
      hasUnwritten.store(true, ordering: .relaxed)
    }
  }

  /// The segments that are durable and complete.
  var sealedSegments: Set<SegmentID> {
    withLock { manifest in Set(manifest.segments.lazy.filter { $0.end != nil }.map(\.id)) }
  }

  /// The segments that may grow, or that the background work has not sealed yet.
  var openSegments: Set<SegmentID> {
    withLock { manifest in Set(manifest.segments.lazy.filter { $0.end == nil }.map(\.id)) }
  }

  /// Replaces the inputs of a compaction by its output, which is durable: in one step. `forgotten` is the newest of the
  /// deletions that the log lacks from then on.
  func replace(
    _ inputs: Set<SegmentID>, by output: Segment?, forgotten: CommitSequence, keepsCheckpoint: Bool
  ) throws(StoreError) {
    // A checkpoint before the newest would not find the records that have moved.
    try replaceCheckpoints({ keepsCheckpoint ? $0.suffix(1) : [] }) { manifest in
      manifest.forgottenSequence = max(manifest.forgottenSequence, forgotten)
      manifest.segments.removeAll { inputs.contains($0.id) }
      guard let output else { return }
      let entry = Manifest.Segment(
        id: output.id, epoch: output.epoch, end: output.end.load(ordering: .relaxed),
        baseSequence: output.baseSequence, lastSequence: output.purgedSequence)
      manifest.segments.insert(
        entry, at: manifest.segments.firstIndex { $0.id > output.id } ?? manifest.segments.endIndex)
    }
    moveLists.withLock { lists in
      lists.hasMoved = true
      if keepsCheckpoint, let output { lists.segments.insert(output.id) }
    }
  }
}

extension Manifest {
  mutating func seal(_ segment: Cairn.Segment) {
    guard let index = segments.index(of: segment.id) else { return }
    segments[index] = Segment(
      id: segment.id, epoch: segment.epoch, end: segment.end.load(ordering: .acquiring),
      baseSequence: segment.baseSequence, lastSequence: segment.lastSequence.load(ordering: .acquiring))
    // The last sequence of a segment without a commit is that of the gap that it begins after.
    if segment.end.load(ordering: .acquiring) > SegmentHeader.size {
      chainSequence = max(chainSequence, segments[index].lastSequence)
    }
  }
}

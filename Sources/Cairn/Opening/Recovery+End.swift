import Synchronization

/// Where the log ends, and what follows the end.
extension Recovery {
  mutating func note(_ watermark: Watermark) {
    found.watermark.sequence = max(found.watermark.sequence, watermark.sequence)
    found.watermark.place = max(found.watermark.place, watermark.place)
  }

  /// Reads the frames after the end. They are no part of the log, but they tell how far the log was durable, and which
  /// sequences are used up.
  mutating func searchBehindEnd(
    _ mapping: any Mapping, _ seed: PlaceSeed, _ baseSequence: CommitSequence, from start: Int
  ) {
    var offset = start
    while offset + FrameHeader.size <= mapping.length {
      if let frame = unsafe FrameView(
        mapping.base + offset, available: mapping.length - offset, offset: offset, seed: seed,
        baseSequence: baseSequence)
      {
        note(frame.header.watermark)
        found.highestSequence = max(found.highestSequence, frame.header.sequence)
        offset += frame.header.length
      } else {
        offset += Format.unit
      }
    }
  }

  /// Reads the frames of a segment without a valid header. An unsealed segment is of the newest epoch, and its first
  /// frame follows the base sequence: the frames' checksums need no more.
  mutating func searchWithoutHeader(_ mapping: any Mapping, _ entry: Manifest.Segment) {
    let start = SegmentHeader.size
    guard mapping.length > start,
      let first = unsafe FrameHeader(mapping.base + start, available: mapping.length - start)
    else { return }
    let header = SegmentHeader(
      store: manifest.store, id: entry.id, epoch: manifest.epoch, baseSequence: first.sequence.previous, created: 0,
      watermark: .none, recoveredEnd: Place(segment: 0, offset: 0))
    searchBehindEnd(mapping, header.seed, header.baseSequence, from: start)
  }

  /// Throws if the log ends before its watermark: a torn tail cannot explain that.
  func checkEnd() throws(StoreError) {
    guard !isCut else { return }
    let end =
      found.last.map { Place(segment: $0.id, offset: $0.end.load(ordering: .relaxed)) }
      ?? Place(segment: manifest.segments.first?.id ?? 0, offset: 0)
    // Compacted and sealed segments are checked by themselves.
    let isOpen = manifest.segments.element(found.watermark.place.segment).map { $0.end == nil } ?? false
    guard !isOpen || found.watermark.place <= end,
      found.watermark.sequence <= max(found.lastSequence, manifest.chainSequence)
    else {
      throw StoreError(
        .corrupted, "the log is invalid here, but was durable up to \(found.watermark.place)", place: end)
    }
  }

  /// Compares the end of the log with the one recorded outside the log. If the recorded end is later, somebody has cut
  /// the log or lost a file of it.
  mutating func checkRecordedEnd() throws(StoreError) {
    guard let recorded, !isCut else { return }
    let end =
      found.last.map { Place(segment: $0.id, offset: $0.end.load(ordering: .relaxed)) } ?? recorded.watermark.place
    guard recorded.watermark.sequence <= found.lastSequence else {
      throw StoreError(
        .damaged,
        "the log ends with commit \(found.lastSequence), but was durable up to commit \(recorded.watermark.sequence), "
          + "\(recorded.watermark.place)", place: end)
    }
    try checkRecordedFrame(recorded)
    note(recorded.watermark)
  }

  /// Throws if a segment that contains only zeros is known to have been used. Otherwise it may never have been used.
  func checkEmpty(_ source: Source) throws(StoreError) {
    let covered = checkpoint?.segment(source.id)?.end ?? 0
    let recorded = recorded.map { $0.watermark.place.segment == source.id ? $0.watermark.place.offset : 0 } ?? 0
    guard max(covered, recorded) > SegmentHeader.size, lastNonzero(source.bytes, from: 0) == 0 else { return }
    throw StoreError(
      .damaged, "segment \(source.id) is empty, but had \(max(covered, recorded)) durable bytes",
      place: Place(segment: source.id, offset: 0))
  }

  /// Checks the last durable frame even if a checkpoint makes reading it unnecessary.
  private func checkRecordedFrame(_ recorded: WatermarkRecord) throws(StoreError) {
    let place = recorded.watermark.place
    guard recorded.frame > 0, let segment = entered[place.segment], !segment.isCompacted else { return }
    let length = min(segment.mapping.length, segment.end.load(ordering: .relaxed))
    guard recorded.frame >= SegmentHeader.size, recorded.frame < length,
      let frame = unsafe FrameView(
        segment.mapping.base + recorded.frame, available: length - recorded.frame, offset: recorded.frame,
        seed: segment.seed, baseSequence: segment.baseSequence),
      frame.header.sequence == recorded.watermark.sequence
    else {
      throw StoreError(
        .damaged, "commit \(recorded.watermark.sequence) was durable, but is missing here",
        place: Place(segment: place.segment, offset: recorded.frame))
    }
  }

  mutating func discard(_ place: Place, _ length: Int, _ mapping: any Mapping) {
    found.discarded.append(RecoveredLog.Discarded(place: place, length: length, mapping: mapping))
    report.discarded.append(
      RecoveryReport.Discarded(
        place: place, length: length, keptAs: Segment.discardedName(place.segment, place.offset)))
  }

  /// Excludes a segment that is no part of the log.
  mutating func exclude(_ id: SegmentID, _ mapping: any Mapping, from start: Int) {
    found.excluded.insert(id)
    let end = lastNonzero(mapping, from: start)
    if end > start { discard(Place(segment: id, offset: start), end - start, mapping) }
  }

  /// The offset of the trailing zeros of a file, at least `start`.
  func lastNonzero(_ mapping: any Mapping, from start: Int) -> Int {
    var end = mapping.length
    while end >= start + 8, (end & 7) == 0, unsafe mapping.base.load(fromByteOffset: end - 8, as: UInt64.self) == 0 {
      end -= 8
    }
    while end > start, unsafe mapping.base.load(fromByteOffset: end - 1, as: UInt8.self) == 0 { end -= 1 }
    return end
  }
}

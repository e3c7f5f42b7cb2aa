import Synchronization

/// Reading the log, segment by segment and frame by frame.
extension Recovery {
  mutating func openSegments() throws(StoreError) {
    // The newest segment first: while another process writes, all that precedes a segment is complete in the segments
    // read after it.
    for entry in manifest.segments.reversed() {
      do throws(FileError) {
        let isGrowing = entry.end == nil
        // If the log is to end before a sealed segment's end, that segment is cut.
        let mayBeWritten = !isReadOnly && (isGrowing || entry.lastSequence > lastWanted)
        let file = try directory.open(Segment.fileName(entry.id), mayBeWritten ? .readWrite : .read)
        // The end of the content counts, however long the file is: a hole is no content.
        let length = isGrowing ? try file.contentEnd() : min(try file.size(), entry.end ?? 0)
        // A writer may trim an unsealed segment after its last frame while it is being read, so a read-only opening
        // reads a copy. The frames themselves stay, and more may follow them.
        let isShared = isReadOnly && isGrowing && length > 0
        let bytes: any Mapping = length == 0 || isShared ? try CopiedFile(file, length) : try file.map(length)
        let mapping = isShared ? try file.map(max(manifest.segmentSize, length)) : bytes
        if !mayBeWritten { file.close() }
        let header = unsafe SegmentHeader.read(UnsafeRawBufferPointer(start: bytes.base, count: bytes.length))
        sources.append(Source(entry: entry, file: file, mapping: mapping, bytes: bytes, header: header))
      } catch {
        guard error.cause == .notFound else { throw StoreError(error) }
      }
    }
    sources.reverse()
  }

  mutating func miss(_ entry: Manifest.Segment) throws(StoreError) {
    guard isCut else {
      throw StoreError(.damaged, "segment \(entry.id) is missing", place: Place(segment: entry.id, offset: 0))
    }
    found.excluded.insert(entry.id)
  }

  mutating func readSegment(_ source: Source) throws(StoreError) {
    let (entry, mapping) = (source.entry, source.bytes)
    if case .header(let header) = source.header, header.kind == .compacted {
      return try readCompacted(source, header)
    }
    if isCut {
      source.file.close()
      exclude(entry.id, mapping, from: 0)
      return
    }
    if let end = entry.end, mapping.length < end {
      throw StoreError(
        .damaged, "segment \(entry.id) has only \(mapping.length) of \(end) bytes",
        place: Place(segment: entry.id, offset: mapping.length))
    }

    switch source.header {
    case .header(let header):
      try checkBelongs(header, entry)
      try readCommits(source, header)
    case .newerFormat:
      throw StoreError(.newerFormat, "\(source.file.path) was written by a newer version")
    case .unused where entry.end == nil:
      try checkEmpty(source)
      source.file.close()
      searchWithoutHeader(mapping, entry)
      exclude(entry.id, mapping, from: mapping.length)
      // Even if it would have been the first segment: a segment after it would follow a hole.
      logEnd = .found
    case .unused, .invalid:
      guard entry.end == nil else {
        throw StoreError(.corrupted, "the segment's header is invalid", place: Place(segment: entry.id, offset: 0))
      }
      // The header may have been torn.
      source.file.close()
      searchWithoutHeader(mapping, entry)
      exclude(entry.id, mapping, from: 0)
      logEnd = .found
    }
  }

  private func checkBelongs(_ header: SegmentHeader, _ entry: Manifest.Segment) throws(StoreError) {
    guard header.id == entry.id, header.store == manifest.store, entry.epoch == 0 || header.epoch == entry.epoch,
      header.epoch <= manifest.epoch
    else {
      throw StoreError(
        .damaged, "the header of segment \(entry.id) belongs to another segment",
        place: Place(segment: entry.id, offset: 0))
    }
  }

  /// Reads a segment that compaction wrote. All of it was durable before the manifest listed it; the records that the
  /// checkpoint contains are not read again.
  private mutating func readCompacted(_ source: Source, _ header: SegmentHeader) throws(StoreError) {
    let entry = source.entry
    try checkBelongs(header, entry)
    guard let end = entry.end, end <= source.bytes.length, header.baseSequence == entry.baseSequence else {
      throw StoreError(
        .damaged, "segment \(entry.id) does not match the manifest", place: Place(segment: entry.id, offset: 0))
    }
    guard header.compactedSequence <= lastWanted else {
      throw StoreError(
        .commitNotFound,
        "the store cannot go back to commit \(lastWanted): the log was compacted later, at commit "
          + "\(header.compactedSequence)")
    }
    found.highestSequence = max(found.highestSequence, header.compactedSequence)
    // The log was durable up to that commit before the manifest listed this segment.
    note(Watermark(sequence: header.compactedSequence, place: Watermark.none.place))
    let segment = entered[entry.id] ?? enter(header, source)
    let isCovered = checkpoint?.segment(entry.id) != nil
    if checkpoint?.isWhollyMoved(entry.id) ?? false {
      try meter.add(end - SegmentHeader.size)
      report.replayedBytes += end - SegmentHeader.size
    } else if !isCovered {
      try readFrames(segment, source, header, end)
    }
    segment.end.store(end, ordering: .relaxed)
    segment.purge(upTo: entry.lastSequence, apartFromPinned: entry.lastSequence)
    table.limit(segment.extents, to: end)
  }

  private mutating func readFrames(
    _ segment: Segment, _ source: Source, _ header: SegmentHeader, _ end: Int
  ) throws(StoreError) {
    var offset = SegmentHeader.size
    var number: CommitSequence = 0
    while offset < end {
      guard let frame = frame(source.bytes, header, at: offset, end), frame.header.sequence == number.next
      else {
        throw StoreError(
          .corrupted, "a frame that was durable is invalid", place: Place(segment: segment.id, offset: offset))
      }
      number = number.next
      try frame.forEachRecord { (record, offset) throws(StoreError) in
        segment.use(dictionary: record.header.dictionary)
        if record.header.sequence > checkpoint?.sequence ?? 0 {
          try apply(record, segment, offset)
        } else if record.header.isTombstone {
          segment.tombstoneBytes.add(record.header.paddedLength, ordering: .relaxed)
        }
      }
      offset += frame.header.length
      try meter.add(frame.header.length)
    }
    report.replayedBytes += end - SegmentHeader.size
  }

  private mutating func readCommits(_ source: Source, _ header: SegmentHeader) throws(StoreError) {
    let entry = source.entry
    note(header.watermark)
    found.highestSequence = max(found.highestSequence, header.baseSequence)
    if let covered = checkpoint?.segment(entry.id) {
      return try take(covered, source, header)
    }
    // Segments before a sealed one, or between the sealed ones and the first unsealed one, may have been compacted.
    if entry.end == nil { chain = max(chain, manifest.chainSequence) }
    let isNext =
      header.baseSequence == chain || (header.epoch > found.last?.epoch ?? 0 && header.baseSequence > chain)
      || (entry.end != nil && header.baseSequence >= chain)
    if logEnd != .ahead || !isNext {
      guard entry.end == nil else {
        throw StoreError(
          .corrupted, "segment \(entry.id) does not continue the log", place: Place(segment: entry.id, offset: 0))
      }
      logEnd = .found
      searchBehindEnd(source.bytes, header.seed, header.baseSequence, from: SegmentHeader.size)
      source.file.close()
      exclude(entry.id, source.bytes, from: 0)
      return
    }

    let segment = enter(header, source)
    chain = header.baseSequence
    try readFrames(segment, source, from: SegmentHeader.size)
  }

  mutating func enter(
    _ header: SegmentHeader, _ source: Source, _ known: CheckpointTables.Segment? = nil
  ) -> Segment {
    let extents = table.enter(
      source.mapping, id: header.id, seed: header.seed, baseSequence: header.baseSequence, at: known?.extent)
    table.limit(extents, to: source.bytes.length)
    let segment = Segment(
      id: header.id, epoch: header.epoch, file: source.file, mapping: source.mapping,
      seed: header.seed, baseSequence: header.baseSequence, extents: extents, end: SegmentHeader.size,
      lastSequence: header.kind == .compacted ? header.compactedSequence : header.baseSequence,
      isCompacted: header.kind == .compacted)
    if let known { checkpoint?.restoreFigures(of: segment, known) }
    replay.enter(segment)
    found.segments.append(segment)
    entered[segment.id] = segment
    if header.kind == .log { found.last = segment }
    return segment
  }

  /// Takes over a segment that the checkpoint knows: the records that the checkpoint contains are not read again.
  private mutating func take(
    _ covered: CheckpointTables.Segment, _ source: Source, _ header: SegmentHeader
  ) throws(StoreError) {
    let entry = source.entry
    guard header.epoch == covered.epoch, source.bytes.length >= covered.end else {
      throw StoreError(
        .damaged, "segment \(entry.id) does not match the checkpoint: \(source.bytes.length) of \(covered.end) bytes",
        place: Place(segment: entry.id, offset: source.bytes.length))
    }
    let segment = entered[entry.id] ?? enter(header, source, covered)
    chain = covered.lastSequence
    if checkpoint?.tables.place.segment == entry.id {
      try readFrames(segment, source, from: covered.end)
    } else {
      close(segment, at: covered.end)
      if entry.end == nil { found.unsealed.insert(segment.id) }
    }
  }

  private func close(_ segment: Segment, at end: Int) {
    segment.end.store(end, ordering: .relaxed)
    segment.lastSequence.store(chain, ordering: .relaxed)
    table.limit(segment.extents, to: end)
  }

  /// Reads the frames of a segment and, if the segment is not sealed or is cut, the bytes after them.
  private mutating func readFrames(
    _ segment: Segment, _ source: Source, from start: Int
  ) throws(StoreError) {
    let (entry, mapping) = (source.entry, source.bytes)
    let end = try readFrames(segment, mapping, from: start, upTo: entry.end ?? mapping.length)
    report.replayedBytes += end - start
    close(segment, at: end)
    guard entry.end == nil || isCut else { return }

    found.unsealed.insert(segment.id)
    let rest = lastNonzero(mapping, from: end)
    if rest > end {
      if !isCut { logEnd = .found }
      searchBehindEnd(mapping, segment.seed, segment.baseSequence, from: end + 8)
      discard(Place(segment: segment.id, offset: end), rest - end, mapping)
    }
  }

  /// Applies the frames of a segment; returns the offset at which they end.
  private mutating func readFrames(
    _ segment: Segment, _ bytes: any Mapping, from start: Int, upTo limit: Int
  ) throws(StoreError) -> Int {
    var offset = start
    while offset < limit {
      guard chain < lastWanted else {
        logEnd = .cut
        break
      }
      let frame = unsafe FrameView(
        bytes.base + offset, available: limit - offset, offset: offset, seed: segment.seed,
        baseSequence: segment.baseSequence)
      guard let frame, frame.header.sequence == chain.next else { break }
      chain = frame.header.sequence
      found.lastSequence = chain
      note(frame.header.watermark)
      report.commits += 1
      try frame.forEachRecord { (record, offset) throws(StoreError) in try apply(record, segment, offset) }
      offset += frame.header.length
      try meter.add(frame.header.length)
    }
    let isSealed = manifest.segments.element(segment.id)?.end != nil
    if isSealed, !isCut, offset != limit {
      throw StoreError(
        .corrupted, "a frame that was durable is invalid", place: Place(segment: segment.id, offset: offset))
    }
    return offset
  }
}

import Synchronization

/// Loading a checkpoint of the index, and the lists of records that have moved since.
extension Recovery {
  /// Loads the newest usable checkpoint. A checkpoint with any mismatch is ignored as a whole: the log is the truth.
  mutating func loadCheckpoint() throws(StoreError) {
    for entry in manifest.checkpoints.reversed() where entry.sequence <= lastWanted {
      // Usable or not, the checkpoint was written when the log was durable up to its commit.
      note(Watermark(sequence: entry.sequence, place: entry.place))
      do throws(CheckpointTables.Problem) {
        let image = try CheckpointImage(entry, manifest, directory: directory, table: table)
        let moves = try moves(since: image.tables)
        index.arena.adopt(image.memory, length: image.tables.nodesEnd)
        guard image.isSound(index.arena, manifest, table) else {
          index.arena.forget()
          throw CheckpointTables.Problem("its nodes are invalid")
        }
        let after = sources.reduce(0) { $0 + ($1.entry.id > entry.place.segment ? $1.bytes.length : 0) }
        if after > max(Self.longTail, entry.length / 8) {
          // Most rows will soon lead elsewhere, so their hash pages are moved to large pages now. The trees, which that
          // does not change, can wait.
          for keyspace in image.tables.keyspaces where !keyspace.directory.isEmpty {
            index.arena.moveToLargePages(HashIndex.range(keyspace.directory))
          }
        }
        if image.tables.hasRetention {
          index.versions.adopt(heads: image.tables.versionBuckets, count: image.tables.versionCount)
        }
        replay.begin(after: entry.sequence)
        checkpoint = LoadedCheckpoint(image.tables, moves: moves)
        table.reserve(image.tables.extentCount)
        for dictionary in image.tables.dictionaries {
          index.dictionaries.add(
            StoredDictionary(id: dictionary.id, keyspace: dictionary.keyspace, content: dictionary.content))
        }
        report.checkpoint = entry.sequence
        found.lastSequence = entry.sequence
        return
      } catch {
        // A shortage of the process's memory or descriptors is no fault of the checkpoint.
        if let cause = error.cause, cause.isShortage { throw StoreError(cause) }
        report.ignoredCheckpoints.append("\(CheckpointTables.fileName(entry.id)): \(error.text)")
      }
    }
  }

  /// The move lists of all segments that have been compacted since a checkpoint.
  private func moves(since tables: CheckpointTables) throws(CheckpointTables.Problem) -> [SegmentID: MoveList] {
    let known = Set(tables.segments.map(\.id))
    var moves: [SegmentID: MoveList] = [:]
    for source in sources where !known.contains(source.entry.id) {
      guard case .header(let header) = source.header, header.kind == .compacted else { continue }
      guard let list = try moveList(source), list.store == manifest.store, list.segment == header.id,
        list.sequence == tables.sequence,
        list.places.count
          == (unsafe FrameHeader.recordCount(
            source.bytes.base, from: SegmentHeader.size, upTo: min(source.entry.end ?? 0, source.bytes.length)))
      else { throw CheckpointTables.Problem("segment \(header.id) has no matching list of moves") }
      moves[header.id] = list
    }
    return moves
  }

  private func moveList(_ source: Source) throws(CheckpointTables.Problem) -> MoveList? {
    do throws(FileError) {
      let file = try directory.open(MoveList.fileName(source.id), .read)
      defer { file.close() }
      let bytes = try file.readAll(atMost: MoveList.maximumLength(segment: source.bytes.length))
      return unsafe bytes.withUnsafeBytes { unsafe MoveList($0) }
    } catch {
      guard !error.isShortage else { throw CheckpointTables.Problem(error) }
      return nil
    }
  }

  /// Enters the segments that the checkpoint refers to and those that compaction wrote, before a record of any of them
  /// is looked up, and moves the rows of the checkpoint to where compaction has copied them. Rows whose segments have
  /// been removed and that have not been moved were superseded by a commit after the checkpoint: the replay enters
  /// them again with that commit.
  mutating func followMoves() throws(StoreError) {
    guard let checkpoint else { return }
    let extents = Dictionary(uniqueKeysWithValues: checkpoint.tables.segments.map { ($0.id, $0.extent) })
    for source in sources {
      guard case .header(let header) = source.header else { continue }
      let known = checkpoint.segment(source.id)
      guard known != nil || header.kind == .compacted else { continue }
      let segment = enter(header, source, known)
      guard let list = checkpoint.moves[header.id] else { continue }
      var number = 0
      var frameNumber: CommitSequence = 0
      var isKnown = true
      var offset = SegmentHeader.size
      let limit = source.entry.end ?? 0
      while offset < limit, let frame = frame(source.bytes, header, at: offset, limit),
        frame.header.sequence == frameNumber.next
      {
        frameNumber = frameNumber.next
        frame.forEachRecord { record, offset in
          segment.use(dictionary: record.header.dictionary)
          if record.header.sequence > checkpoint.sequence || record.header.isTombstone { isKnown = false }
          let place = Place(packed: list.places[number])
          number += 1
          guard record.header.isPut || record.header.isTombstone, let extent = extents[place.segment],
            case let old = table.address(extent: extent, offset: place.offset)
          else { return }
          replay.addMove(record, from: old, to: table.address(extent: segment.extent, offset: offset), in: segment)
        }
        offset += frame.header.length
      }
      replay.finishMoves(to: segment)
      if isKnown, offset == limit { self.checkpoint?.noteWhollyMoved(header.id) }
    }
    let present = Set(manifest.segments.map(\.id))
    let gone = checkpoint.tables.segments.filter { !present.contains($0.id) }
    guard !gone.isEmpty else { return }
    var hasGone = [Bool](repeating: true, count: checkpoint.tables.extentCount)
    for segment in found.segments {
      for extent in segment.extents where extent < hasGone.count { hasGone[extent] = false }
    }
    for source in sources {
      guard let known = checkpoint.segment(source.id) else { continue }
      for extent in known.extent..<min(hasGone.count, known.extent + table.extentCount(for: source.bytes.length)) {
        hasGone[extent] = false
      }
    }
    func isGone(_ address: LogAddress) -> Bool {
      let extent = table.extent(address)
      return extent < hasGone.count && hasGone[extent]
    }
    // The last versions of deleted rows, whose slots refer to tombstones.
    let deleted = index.versions.versions { version, _ in
      version.isBeforeDeletion && index.versions.version(version.hash, sequence: version.supersededBy) == nil
    }
    for version in index.versions.versions(where: { version, _ in isGone(version.address) }) {
      _ = index.versions.remove(version.hash, sequence: version.sequence)
      replay.checkAgain(at: version.hash, of: version.keyspace)
    }
    for keyspace in index.allKeyspaces {
      let count = keyspace.locator.index.vacate(isGone)
      var vacatedTombstones = 0
      for version in deleted where version.keyspace == keyspace.id {
        if unsafe try keyspace.locator.find(version.hash) == nil { vacatedTombstones += 1 }
      }
      keyspace.rowCount.subtract(count - vacatedTombstones, ordering: .relaxed)
      for segment in gone { keyspace.live.reset(extent: segment.extent) }
      if count > 0 {
        replay.expectAgain(keyspace, rows: count - vacatedTombstones, tombstones: vacatedTombstones)
      }
    }
  }

  func frame(
    _ mapping: any Mapping, _ header: SegmentHeader, at offset: Int, _ limit: Int
  ) -> FrameView? {
    unsafe FrameView(
      mapping.base + offset, available: limit - offset, offset: offset, seed: header.seed,
      baseSequence: header.baseSequence, isCompacted: header.kind == .compacted)
  }
}

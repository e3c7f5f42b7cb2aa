import Synchronization

/// How segments come to be, follow each other, and are listed.
extension Log {
  /// An empty file of a size, in the place of one that may be there. A failure leaves none.
  func create(_ name: String, _ size: Int) throws(FileError) -> any File {
    do throws(FileError) {
      try directory.remove(name)
    } catch {
      guard error.cause == .notFound else { throw error }
    }
    let file = try directory.open(name, .create)
    do throws(FileError) {
      try file.reserve(size)
    } catch {
      discard(file, name)
      throw error
    }
    return file
  }

  func discard(_ file: any File, _ name: String) {
    file.close()
    do throws(FileError) { try directory.remove(name) } catch {}
  }

  /// Creates the next segment and replaces the manifest by `changed`, which lists it then.
  func addSegment(to manifest: inout Manifest, _ changed: Manifest) throws(StoreError) -> PreparedFile {
    let size = reserve.isSpent.load(ordering: .relaxed) ? reserve.step : min(Self.firstReservation, segmentSize)
    let id = manifest.nextSegment
    guard id <= Format.maximumID else { throw Self.usedUp }
    let name = Segment.fileName(id)
    // One that is there is left over from a crash before the manifest knew it.
    let file = try attempt { () throws(FileError) in try create(name, size) }
    var changed = changed
    changed.segments.append(Manifest.Segment(id: id))
    changed.nextSegment = id + 1
    do throws(StoreError) {
      try replace(&manifest, changed) { () throws(FileError) in
        try file.sync()
        try directory.sync()
      }
    } catch {
      if error.code != .poisoned { discard(file, name) }
      throw error
    }
    return PreparedFile(id: id, file: file, reserved: size)
  }

  /// Replaces the manifest by the next generation. What it is to speak of is made durable by `harden`, once it is sure
  /// that there is space for it. A failure before that changes nothing; one behind it poisons.
  func replace(
    _ manifest: inout Manifest, _ changed: Manifest, harden: () throws(FileError) -> Void
  ) throws(StoreError) {
    var changed = changed
    changed.generation += 1
    changed.highestSequence = max(changed.highestSequence, durableSequence.load(ordering: .acquiring))
    let written = changed.durable(upTo: changed.highestSequence)
    let staged = try attempt { () throws(FileError) in try manifestFile.stage(written) }
    do throws(FileError) {
      try harden()
      try manifestFile.publish(staged, written)
    } catch {
      throw poison(error)
    }
    manifest = changed
    checkpointBytes.store(changed.checkpointBytes, ordering: .relaxed)
  }

  /// Makes a prepared file the active segment.
  @discardableResult
  func activate(
    _ next: PreparedFile, epoch: UInt32, length: Int, recoveredEnd: Place
  ) throws(StoreError) -> Segment {
    let needed = SegmentHeader.size + length
    if needed > next.reserved { try allocate(next.file, needed) }
    let mapping = try attempt { () throws(FileError) in try next.file.map(max(segmentSize, needed)) }
    reserved = max(needed, next.reserved)
    zeroed = 0
    let header = SegmentHeader(
      store: store, id: next.id, epoch: epoch, baseSequence: lastSequence, created: environment.clock(),
      watermark: watermark, recoveredEnd: recoveredEnd)
    do throws(FileError) { try next.file.writeAll(header.encoded(), at: 0) } catch { throw poison(error) }
    let slots = table.enter(mapping, id: next.id, seed: header.seed, baseSequence: lastSequence)
    let segment = Segment(
      id: next.id, epoch: epoch, file: next.file, mapping: mapping,
      seed: header.seed, baseSequence: lastSequence, slots: slots, end: SegmentHeader.size, lastSequence: lastSequence)
    enter(segment)
    list(segment)
    tail.withLock { tail in
      tail.segments.append(segment)
      tail.frame = 0
    }
    self.epoch.store(epoch, ordering: .relaxed)
    active = segment
    return segment
  }

  func roll(_ length: Int, schedulesSeal: Bool = true) throws(StoreError) -> Segment {
    if prepared.withLock({ $0 == nil }) {
      // The background has fallen behind, and so perhaps has the reserve, which a disk that fills up this fast needs.
      if !reserve.isSpent.load(ordering: .relaxed) { keepReserve() }
      try prepareNow()
    }
    guard let next = prepared.withLock({ $0 }), let full = active else { preconditionFailure("no segment to roll to") }
    let segment = try activate(next, epoch: full.epoch, length: length, recoveredEnd: Place(segment: 0, offset: 0))
    prepared.withLock { $0 = nil }
    if schedulesSeal {
      environment.scheduler.schedule { [self] in
        seal(full)
        prepare()
      }
    }
    return segment
  }

  /// In the background: the next segment exists before it is needed. Where there is no space the writer that needs it
  /// will say so.
  func prepare() {
    do throws(StoreError) {
      try checkHealth()
      try requireReserve()
      try prepareNow()
    } catch {}
    keepReserve()
  }

  func prepareNow() throws(StoreError) {
    try manifest.withLock { (manifest) throws(StoreError) in
      guard prepared.withLock({ $0 == nil }) else { return }
      let next = try addSegment(to: &manifest, manifest)
      prepared.withLock { $0 = next }
    }
  }

  /// In the background: a full segment is synced, trimmed, and known to the manifest as sealed with the next
  /// replacement.
  func seal(_ segment: Segment) {
    do throws(StoreError) {
      // A segment without a commit has a header all the same.
      let end = Place(segment: segment.id, offset: segment.end.load(ordering: .acquiring))
      try sync(upTo: segment.lastSequence.load(ordering: .acquiring), through: end)
    } catch {
      return
    }
    // What a failed trim leaves is zeros.
    do throws(FileError) { try segment.file.truncate(segment.end.load(ordering: .acquiring)) } catch {}
    manifest.withLock { $0.seal(segment) }
    close(segment)
  }
}

extension Manifest {
  var checkpointBytes: Int { checkpoints.reduce(0) { $0 + $1.length } }

  mutating func seal(_ segment: Cairn.Segment) {
    guard let index = segments.index(of: segment.id) else { return }
    segments[index] = Segment(
      id: segment.id, epoch: segment.epoch, end: segment.end.load(ordering: .acquiring),
      baseSequence: segment.baseSequence, lastSequence: segment.lastSequence.load(ordering: .acquiring))
    // One without a commit names the gap that it begins behind.
    if segment.end.load(ordering: .acquiring) > SegmentHeader.size {
      chainSequence = max(chainSequence, segments[index].lastSequence)
    }
  }

  /// Without the keyspaces whose definitions are not durable: those are known from the log alone.
  fileprivate func durable(upTo sequence: UInt64) -> Manifest {
    var durable = self
    durable.keyspaces.removeAll { $0.definedAt > sequence }
    return durable
  }
}

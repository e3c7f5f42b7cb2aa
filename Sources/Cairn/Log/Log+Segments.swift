import Synchronization

/// How segments are created, activated, sealed and listed.
extension Log {
  /// Creates an empty file with `size` bytes reserved, and replaces an existing one. A failure leaves no file.
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

  /// Creates the next segment and replaces the manifest by `changed` with that segment added.
  func addSegment(to manifest: inout Manifest, _ changed: Manifest) throws(StoreError) -> PreparedFile {
    let size = reserve.isSpent.load(ordering: .relaxed) ? reserve.step : min(Self.firstReservation, segmentSize)
    let id = manifest.nextSegment
    guard id <= .highest else { throw Self.usedUp }
    let name = Segment.fileName(id)
    // An existing file of that name is left from a crash before the manifest listed it.
    let file = try attempt { () throws(FileError) in try create(name, size) }
    var changed = changed
    changed.segments.append(Manifest.Segment(id: id))
    changed.nextSegment = id.next
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

  /// Replaces the manifest by the next generation. `harden` makes the files that the new manifest lists durable; it is
  /// called once there is space for the manifest. A failure before that changes nothing; a later one poisons the log.
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
    counts.checkpointBytes.store(changed.checkpointBytes, ordering: .relaxed)
  }

  /// In the background: creates the next segment before it is needed. If there is no space, the writer that needs the
  /// segment will report that.
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

  /// In the background: syncs and trims a full segment. The manifest lists it as sealed from its next replacement on.
  func seal(_ segment: Segment) {
    do throws(StoreError) {
      // A segment without a commit has a header that must be durable too.
      let end = Place(segment: segment.id, offset: segment.end.load(ordering: .acquiring))
      try sync(upTo: segment.lastSequence.load(ordering: .acquiring), through: end)
    } catch {
      return
    }
    // If trimming fails, only zeros remain after the end.
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
    // The last sequence of a segment without a commit is that of the gap that it begins after.
    if segment.end.load(ordering: .acquiring) > SegmentHeader.size {
      chainSequence = max(chainSequence, segments[index].lastSequence)
    }
  }

  /// Without the keyspaces whose definitions are not durable: only the log knows of those.
  fileprivate func durable(upTo sequence: CommitSequence) -> Manifest {
    var durable = self
    durable.keyspaces.removeAll { $0.definedAt > sequence }
    return durable
  }
}

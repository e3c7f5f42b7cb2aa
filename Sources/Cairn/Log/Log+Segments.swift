import Synchronization

/// How segments are prepared, sealed and listed.
extension Log {
  /// In the background: creates the next segment before it is needed. If there is no space, the writer that needs the
  /// segment will report that.
  func prepare() {
    do throws(StoreError) {
      try failure.check()
      try requireReserve()
      try prepareNow()
    } catch {}
    keepReserve()
  }

  func prepareNow() throws(StoreError) { try manifest.prepareSegment(reserving: firstLength) }

  /// In the background: syncs and trims a full segment. The manifest lists it as sealed from its next replacement on.
  func seal(_ segment: Segment) {
    do throws(StoreError) {
      // A segment without a commit has a header that must be durable too.
      let end = Place(segment: segment.id, offset: segment.end.load(ordering: .acquiring))
      try syncs.sync(upTo: segment.lastSequence.load(ordering: .acquiring), through: end)
    } catch {
      return
    }
    // If trimming fails, only zeros remain after the end.
    do throws(FileError) { try segment.file.truncate(segment.end.load(ordering: .acquiring)) } catch {}
    manifest.seal(segment)
    syncs.close(segment)
  }

  /// Seals the segments before one that the background work has not sealed yet.
  func sealSegments(before active: Segment) {
    let open = manifest.openSegments
    for segment in segments.withLock({ $0 }) where segment.id < active.id && open.contains(segment.id) { seal(segment) }
  }

  /// Enters a segment. The inputs of the compaction that has written it stay until no index refers to them.
  func list(_ output: Segment?, inPlaceOf inputs: [Segment] = []) {
    segments.withLock { segments in
      for input in inputs { input.isReplaced.store(true, ordering: .relaxed) }
      guard let segment = output else { return }
      segments.insert(segment, at: segments.firstIndex { $0.id > segment.id } ?? segments.endIndex)
    }
  }
}

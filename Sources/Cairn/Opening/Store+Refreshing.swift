extension Store {
  /// Lets a store that was opened for reading advance to the newest commit in the log, beside a process that writes,
  /// compacts, or has opened the store again meanwhile.
  ///
  /// All rows change at once. Existing snapshots stay as they are, and so does every row that is being read. Readers do
  /// not wait. Returns at once in a store opened for writing, which sees its own commits.
  ///
  /// Takes some 15 µs if nothing is new; otherwise about 0.2 ms, 1.5 µs for each new record and 0.5 µs for each record
  /// that has been compacted since: in proportion to what the writer has written, not to what the store has. Memory for
  /// segments that have been compacted, and their space on disk, is released by the next refresh after the last
  /// snapshot that needs them.
  ///
  /// May be called from any thread; calls wait for each other.
  ///
  /// - Returns: the newest commit, ``lastSequence``. It may not be durable yet.
  /// - Throws: `replaced` if the store was taken back to an earlier commit, or another one is at its path;
  ///   `notFound` if there is none any more; `corrupted`, `damaged`, `newerFormat`, `noPermission`, `noDescriptors`,
  ///   `inputOutput`; `noMemory`. After each of them the store is as it was, and can be read and refreshed again.
  ///   `closed`; `invalidArgument` if it was opened with ``StoreOptions/upTo``. `poisoned` if an earlier refresh failed
  ///   when it had begun to change the index: the store can still be read as it was before that.
  @discardableResult
  public func refresh() throws(StoreError) -> CommitSequence {
    try index.checkProcess()
    guard isReadOnly else { return lastSequence }
    guard options.upTo == nil else {
      throw StoreError(.invalidArgument, "a store that was opened up to a commit does not advance")
    }
    return try departed.withLock { (departed) throws(StoreError) in
      guard !isClosed else { throw StoreError(.closed, "the store is closed") }
      try log.failure.check()
      try checkIsAtPath()
      if let refresh = try findNews() { departed.add(try committer.enter(refresh), after: lastSequence) }
      departed.reclaim(committer)
      return lastSequence
    }
  }

  /// The directory stays open, whatever becomes of its path.
  private func checkIsAtPath() throws(StoreError) {
    let present: FileIdentity
    do throws(FileError) {
      let directory = try environment.files.directory(path)
      present = directory.identity
      directory.close()
    } catch {
      guard error.cause == .notFound else { throw StoreError(error) }
      throw StoreError(.notFound, "there is no store at \(path) any more")
    }
    guard present == log.directory.identity else {
      throw StoreError(.replaced, "another directory is at \(path) now")
    }
  }

  /// Files change while they are read, so damage is reported only if it is still there when everything has been read
  /// again, as when the store is opened.
  private func findNews() throws(StoreError) -> Refresh? {
    for _ in 1..<StoreOpening.attempts {
      do throws(StoreError) {
        return try Refresh.find(log, index)
      } catch {
        guard error.code == .corrupted || error.code == .damaged else { throw error }
      }
    }
    return try Refresh.find(log, index)
  }
}

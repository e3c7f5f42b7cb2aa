import Synchronization

/// Trains dictionaries in the background, for keyspaces whose values are alike, from their own rows.
///
/// The first training is early, so that an import has a dictionary nearly from its start; the next one is due whenever
/// four times as much has been put. A dictionary is adopted only if values then take at least a tenth less than now,
/// the bytes of the dictionary included. A piece of the work takes 20 ms at most.
final class Dictionaries: Sendable {
  private let index: Index
  private let committer: Committer
  private let scheduler: any Scheduler
  private let isActive: Bool
  /// Bytes of values that must have been put before the first attempt.
  private let firstTraining: Int
  /// The longest dictionary, in bytes. It is shorter for small segments: the dictionaries in use are to be a small part
  /// of the log.
  private let longest: Int
  private let isClosed = Atomic<Bool>(false)
  /// Whether background work is scheduled or running: it is scheduled once, however many commits find a training due.
  private let isAdvancing = Atomic<Bool>(false)
  private let state = Lock<Attempt?>(nil)

  init(index: Index, committer: Committer, scheduler: any Scheduler, options: StoreOptions, segmentSize: Int) {
    self.index = index
    self.committer = committer
    self.scheduler = scheduler
    isActive = options.trainsDictionaries && options.compresses && options.access == .readWrite
    firstTraining = options.firstTraining
    longest = min(LZ4Dictionary.maximumLength, segmentSize / 4)
    let dictionaries = index.dictionaries.all
    for keyspace in index.allKeyspaces {
      guard let newest = dictionaries.last(where: { $0.keyspace == keyspace.id }) else { continue }
      keyspace.firstDictionary.store(newest.id, ordering: .relaxed)
      guard isActive else { continue }
      unsafe keyspace.dictionary.store(Unmanaged.passUnretained(newest), ordering: .releasing)
      keyspace.nextTraining.store(
        max(firstTraining, 3 * keyspace.live.byExtent.reduce(0) { $0 + $1.bytes }), ordering: .relaxed)
    }
  }

  func close() { isClosed.store(true, ordering: .relaxed) }

  /// Called after a commit.
  @inline(__always)
  func valuesWerePut() {
    if committer.counts.isTrainingDue.load(ordering: .relaxed) { begin() }
  }

  private func begin() {
    guard isActive, committer.counts.isTrainingDue.exchange(false, ordering: .relaxed),
      !isAdvancing.exchange(true, ordering: .acquiringAndReleasing)
    else { return }
    scheduler.schedule { [self] in advance() }
  }

  /// Does one piece of the work, so that other work has its turn.
  private func advance() {
    let isDone = state.withLock { attempt in
      guard !isClosed.load(ordering: .relaxed) else { return true }
      if attempt == nil { attempt = nextAttempt() }
      guard var current = attempt else { return true }
      attempt = nil
      do throws(StoreError) {
        if try current.step(index, committer) { attempt = current }
      } catch {
        // The next attempt may find the space or other resource that this one lacked.
      }
      return false
    }
    if isDone {
      isAdvancing.store(false, ordering: .releasing)
    } else {
      scheduler.schedule { [self] in advance() }
    }
  }

  private func nextAttempt() -> Attempt? {
    for keyspace in index.allKeyspaces {
      let bytes = keyspace.putBytes.load(ordering: .relaxed)
      let due = max(firstTraining, keyspace.nextTraining.load(ordering: .relaxed))
      guard bytes >= due else {
        keyspace.nextTraining.store(due, ordering: .relaxed)
        continue
      }
      keyspace.nextTraining.store(4 * bytes, ordering: .relaxed)
      return Attempt(keyspace, putBytes: bytes, fewestBytes: firstTraining / 4, longest: longest)
    }
    return nil
  }
}

/// One attempt at a better dictionary for a keyspace.
private struct Attempt {
  private static let mostSampleBytes = 1 << 20
  /// Longer values compress well enough by themselves.
  private static let longestAverage = 8 << 10
  private static let pages = 64
  /// One sample of this many is not trained from, but used to measure the gain.
  private static let heldOut = 8

  private let keyspace: KeyspaceIndex
  private let putBytes: Int
  private let fewestBytes: Int
  private let longest: Int
  private let sampleBytes: Int
  private let bytesOfPage: Int
  private var samples: [[UInt8]] = []
  private var bytes = 0
  /// Where the next page of rows begins, in the order of their hashes; nil when there are enough samples.
  private var position: UInt32? = 0
  private var trained: [UInt8]?

  init(_ keyspace: KeyspaceIndex, putBytes: Int, fewestBytes: Int, longest: Int) {
    self.keyspace = keyspace
    self.putBytes = putBytes
    self.fewestBytes = fewestBytes
    self.longest = longest
    // At most the bytes put so far: an import continues meanwhile, and is to have its dictionary soon.
    sampleBytes = min(Self.mostSampleBytes, putBytes)
    // A page has a thousand to two thousand rows.
    bytesOfPage = sampleBytes / max(1, min(Self.pages, keyspace.rowCount.load(ordering: .relaxed) / 2000))
  }

  /// Does a piece of the work; false when none remains.
  mutating func step(_ index: Index, _ committer: Committer) throws(StoreError) -> Bool {
    if let start = position {
      gather(index, from: start)
      return true
    }
    guard let trained else {
      guard bytes >= fewestBytes, bytes / samples.count <= Self.longestAverage else { return false }
      var kept: [[UInt8]] = []
      for (number, sample) in samples.enumerated() where number % Self.heldOut > 0 { kept.append(sample) }
      self.trained = DictionaryTraining.train(samples: kept, capacity: min(longest, bytes / Self.heldOut))
      return true
    }
    if !trained.isEmpty { try adopt(trained, committer) }
    return false
  }

  /// Takes samples from one page of rows after the other; the pages are evenly spread. Since rows are ordered by hash,
  /// those of a page are from anywhere in the log.
  private mutating func gather(_ index: Index, from start: UInt32) {
    let pin = index.eras.pin()
    defer { index.eras.unpin(pin) }
    guard keyspace.droppedAt.load(ordering: .acquiring) == .max else { return position = nil }
    var addresses: [LogAddress] = []
    let next = keyspace.locator.index.addresses(from: start, into: &addresses)
    let published = index.published.load(ordering: .acquiring)
    let enough = min(sampleBytes, bytes + bytesOfPage)
    for address in addresses where bytes < enough {
      guard let record = index.table.record(address), record.header.isPut,
        record.header.sequence <= published, record.header.rawLength <= LZ4Compressor.longestValueWithDictionary,
        let value = try? record.copiedValue(index.dictionaries)
      else { continue }
      samples.append(value)
      bytes += value.count
    }
    let spread = start.addingReportingOverflow(.max / UInt32(Self.pages))
    position = bytes >= sampleBytes || spread.overflow ? nil : next.map { max($0, spread.partialValue) }
  }

  /// Adopts a dictionary if it pays for the values that will have been put by the next training, assuming that they are
  /// like the samples that were held out.
  private func adopt(_ content: [UInt8], _ committer: Committer) throws(StoreError) {
    var compressor = LZ4Compressor()
    let stored = unsafe content.withUnsafeBytes { unsafe Self.compress($0, &compressor, with: nil) }
    let candidate = unsafe content.withUnsafeBytes { unsafe LZ4Dictionary($0) }
    let present = unsafe keyspace.dictionary.load(ordering: .acquiring)?.takeUnretainedValue().content
    var (raw, now, then) = (0, 0, 0)
    for number in stride(from: 0, to: samples.count, by: Self.heldOut) {
      unsafe samples[number].withUnsafeBytes { value in
        raw += value.count
        now += unsafe Self.compress(value, &compressor, with: present)?.count ?? value.count
        then += unsafe Self.compress(value, &compressor, with: candidate)?.count ?? value.count
      }
    }
    let share = (stored?.count ?? content.count) * raw / (3 * putBytes)
    guard (then + share) * 10 <= now * 9 else { return }
    _ = try committer.append(DictionaryAdoption(content, stored: stored, for: keyspace), isSynced: false)
  }

  private static func compress(
    _ value: UnsafeRawBufferPointer, _ compressor: inout LZ4Compressor, with dictionary: LZ4Dictionary?
  ) -> [UInt8]? {
    var length: Int?
    let block = unsafe [UInt8](unsafeUninitializedCapacity: value.count + 1) { buffer, count in
      guard let target = unsafe buffer.baseAddress.map(UnsafeMutableRawPointer.init) else { return }
      length =
        if let dictionary {
          unsafe compressor.compress(value, with: dictionary, into: target)
        } else {
          unsafe compressor.compress(value, into: target)
        }
      count = length ?? 0
    }
    return length == nil ? nil : block
  }
}

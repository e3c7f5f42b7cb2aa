import Synchronization

/// What a store tells of its work: times, and events. Costs a look at a word while nobody wants to know.
final class Telemetry: Sendable {
  enum Work: Int, CaseIterable {
    case commit
    case get
    case sync
    case compactionPiece
  }

  private struct Listeners {
    var continuations: [Int: AsyncStream<StoreEvent>.Continuation] = [:]
    var next = 0
    var isOver = false
  }

  private static let slowCommit = 100_000_000
  private static let shortestStall = 10_000_000

  /// How many meters and listeners there are.
  private let users = Atomic<Int>(0)
  private let histograms = AtomicLazyReference<Histograms>()
  private let listeners = Lock(Listeners())

  // MARK: Times

  /// The time at which some work begins; 0 if nobody wants to know.
  @inline(__always)
  func begin() -> Int { users.load(ordering: .relaxed) == 0 ? 0 : monotonicTime() }

  @inline(__always)
  func end(_ work: Work, since start: Int) {
    if start != 0 { note(work, monotonicTime() - start) }
  }

  @inline(never)
  private func note(_ work: Work, _ time: Int) {
    histograms.load()?.add(time, to: work)
    if work == .commit, time >= Self.slowCommit { post(.slowCommit(.nanoseconds(time))) }
  }

  /// Notes that a writer has waited.
  func endStall(since start: Int) {
    guard start != 0 else { return }
    let time = monotonicTime() - start
    if time >= Self.shortestStall { post(.stall(.nanoseconds(time))) }
  }

  func beginMeasuring() {
    _ = histograms.storeIfNil(Histograms())
    users.add(1, ordering: .relaxed)
  }

  func endMeasuring() { users.subtract(1, ordering: .relaxed) }

  /// All times since measuring first began.
  var latencies: StoreLatencies {
    let histograms = histograms.storeIfNil(Histograms())
    return StoreLatencies(
      commits: histograms.state(.commit), gets: histograms.state(.get), syncs: histograms.state(.sync),
      compactionPieces: histograms.state(.compactionPiece))
  }

  // MARK: Events

  /// The events from now on. A listener that is slow misses the oldest of more than 100.
  func events() -> AsyncStream<StoreEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: StoreEvent.self, bufferingPolicy: .bufferingNewest(100))
    let number: Int? = listeners.withLock { listeners in
      guard !listeners.isOver else { return nil }
      listeners.next += 1
      listeners.continuations[listeners.next] = continuation
      users.add(1, ordering: .relaxed)
      return listeners.next
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in self?.remove(number) }
    return stream
  }

  private func remove(_ number: Int) {
    let isThere = listeners.withLock { $0.continuations.removeValue(forKey: number) != nil }
    if isThere { users.subtract(1, ordering: .relaxed) }
  }

  func post(_ event: StoreEvent) {
    guard users.load(ordering: .relaxed) > 0 else { return }
    for continuation in listeners.withLock({ Array($0.continuations.values) }) { continuation.yield(event) }
  }

  /// Ends all streams of events.
  func finish() {
    let all = listeners.withLock { listeners in
      listeners.isOver = true
      return Array(listeners.continuations.values)
    }
    for continuation in all { continuation.finish() }
  }
}

/// A histogram for each kind of work. Threads add to them without waiting for each other.
@safe private final class Histograms: @unchecked Sendable {
  private static let stride = LatencyHistogram.bucketCount + 1
  private static let count = stride * Telemetry.Work.allCases.count
  /// For each kind the sum of its times, and then its buckets.
  private let words = UnsafeMutablePointer<Atomic<Int>>.allocate(capacity: count)

  init() {
    for index in 0..<Self.count { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe words.deinitialize(count: Self.count)
    unsafe words.deallocate()
  }

  func add(_ time: Int, to work: Telemetry.Work) {
    let first = work.rawValue * Self.stride
    unsafe words[first].wrappingAdd(time, ordering: .relaxed)
    unsafe words[first + 1 + LatencyHistogram.bucket(of: time)].wrappingAdd(1, ordering: .relaxed)
  }

  func state(_ work: Telemetry.Work) -> LatencyHistogram {
    let first = work.rawValue * Self.stride
    let total = unsafe words[first].load(ordering: .relaxed)
    return LatencyHistogram(
      (1..<Self.stride).map { unsafe words[first + $0].load(ordering: .relaxed) }, total: total)
  }
}

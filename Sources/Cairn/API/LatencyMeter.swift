/// Measures how long the calls and the work of a store take, from ``Store/measure()`` until the last reference to the
/// meter is gone. May be used from any thread.
public final class LatencyMeter: Sendable {
  private let telemetry: Telemetry
  private let start: StoreLatencies

  init(_ telemetry: Telemetry) {
    self.telemetry = telemetry
    telemetry.beginMeasuring()
    start = telemetry.latencies
  }

  deinit { telemetry.endMeasuring() }

  /// The times since the meter was made.
  public var latencies: StoreLatencies {
    let now = telemetry.latencies
    return StoreLatencies(
      commits: now.commits.since(start.commits), gets: now.gets.since(start.gets), syncs: now.syncs.since(start.syncs),
      compactionPieces: now.compactionPieces.since(start.compactionPieces))
  }
}

extension Store {
  /// Begins to measure. While there is a meter, each read of a row takes some 50 ns longer; otherwise measuring costs
  /// nothing.
  public func measure() -> LatencyMeter { LatencyMeter(log.telemetry) }

  /// What happens from now on that an operator may want to know. The stream ends when the store is closed. A listener
  /// that is slow misses the oldest of more than 100 events. Each call makes a stream of its own; costs nothing when
  /// nobody listens.
  ///
  ///     for await event in store.events { logger.warning("\(event)") }
  public var events: AsyncStream<StoreEvent> { log.telemetry.events() }
}

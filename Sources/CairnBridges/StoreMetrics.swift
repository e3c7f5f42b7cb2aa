#if Bridges
  public import Cairn
  public import Metrics

  /// Reports the figures of a store as metrics of swift-metrics.
  ///
  ///     let metrics = StoreMetrics(store)
  ///     Task { try await metrics.run(every: .seconds(10)) }
  ///
  /// Gauges `cairn.log.bytes`, `cairn.live.bytes`, `cairn.index.bytes`, `cairn.rows`, `cairn.snapshots`, and
  /// `cairn.commits` and `cairn.syncs`, which count from the opening of the store. Gauges `cairn.commit.seconds`,
  /// `cairn.get.seconds`, `cairn.sync.seconds` and `cairn.compaction.seconds` with the dimension `quantile` (0.5, 0.99,
  /// 1): the times since the report before. May be used from any thread.
  public final class StoreMetrics: Sendable {
    private let store: Store
    private let factory: any MetricsFactory
    private let dimensions: [(String, String)]

    /// - Parameters:
    ///   - store: the store whose figures are reported.
    ///   - dimensions: dimensions of all metrics, such as the name of the store.
    ///   - factory: where the metrics go; nil for the factory of the process.
    public init(_ store: Store, dimensions: [(String, String)] = [], factory: (any MetricsFactory)? = nil) {
      self.store = store
      self.dimensions = dimensions
      self.factory = factory ?? MetricsSystem.factory
    }

    /// Reports again and again until the task is cancelled. Measures times from the first report on.
    public func run(every interval: Duration) async throws {
      var meter = store.measure()
      while true {
        let next = store.measure()
        report(meter.latencies)
        meter = next
        try await Task.sleep(for: interval)
      }
    }

    /// Reports figures once, with times that a meter has measured.
    public func report(_ latencies: StoreLatencies) {
      let statistics = store.statistics
      for (name, value) in [
        ("log.bytes", statistics.logBytes), ("live.bytes", statistics.liveBytes),
        ("index.bytes", statistics.indexBytes), ("rows", statistics.rows), ("snapshots", statistics.snapshots),
        ("commits", statistics.commits), ("syncs", statistics.syncs),
      ] {
        gauge(name).record(value)
      }
      for (name, histogram) in [
        ("commit", latencies.commits), ("get", latencies.gets), ("sync", latencies.syncs),
        ("compaction", latencies.compactionPieces),
      ] where histogram.count > 0 {
        for quantile in [0.5, 0.99, 1] {
          gauge("\(name).seconds", [("quantile", "\(quantile)")])
            .record(histogram.quantile(quantile) / .seconds(1))
        }
      }
    }

    private func gauge(_ name: String, _ more: [(String, String)] = []) -> Gauge {
      Gauge(label: "cairn.\(name)", dimensions: dimensions + more, factory: factory)
    }
  }
#endif

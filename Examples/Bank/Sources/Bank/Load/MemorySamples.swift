/// The service's statistics at three times during a load.
struct MemorySamples: Sendable {
  let samples: [StatisticsReply]

  /// Asks for the statistics after a tenth, a half and all of the duration, counted from now.
  init(port: Int, over duration: Duration) async throws {
    let start = ContinuousClock.now
    samples = try await Client.with(port: port) { client in
      var samples: [StatisticsReply] = []
      for part in [0.1, 0.5, 1] {
        try await Task.sleep(until: start + duration * part)
        samples.append(try await client.get("/statistics"))
      }
      return samples
    }
  }
}

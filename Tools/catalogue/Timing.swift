/// An amount of work, and the time that it took.
struct Rate {
  var count = 0
  var seconds = 0.0

  var perSecond: Double { seconds > 0 ? Double(count) / seconds : 0 }
}

func timed<Result>(_ body: () throws -> Result) rethrows -> (result: Result, seconds: Double) {
  let clock = ContinuousClock()
  let start = clock.now
  let result = try body()
  return (result, (clock.now - start).inSeconds)
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

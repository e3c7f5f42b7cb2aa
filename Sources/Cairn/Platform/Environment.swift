/// What the engine uses of the outside world, passed in when a store is opened: files, time, randomness and background
/// work. With a simulated environment the same seed gives the same bytes.
package struct Environment: Sendable {
  package var files: any FileLayer
  /// Nanoseconds since 1970. Recorded in the log for people to read; nothing is ever ordered by it.
  package var clock: @Sendable () -> UInt64
  package var random: @Sendable () -> UInt64
  package var scheduler: any Scheduler
  /// Makes the calling thread wait for about this many nanoseconds.
  package var pause: @Sendable (Int) -> Void

  package init(
    files: any FileLayer, clock: @escaping @Sendable () -> UInt64,
    random: @escaping @Sendable () -> UInt64, scheduler: any Scheduler,
    pause: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.files = files
    self.clock = clock
    self.random = random
    self.scheduler = scheduler
    self.pause = pause
  }

  /// The environment of the operating system.
  package static var system: Environment {
    Environment(
      files: SystemFileLayer(), clock: systemClock, random: { UInt64.random(in: .min ... .max) },
      scheduler: ThreadScheduler(), pause: systemPause)
  }
}

/// Runs background work off the caller's thread, one piece after the other, in the order given.
package protocol Scheduler: Sendable {
  func schedule(_ work: @escaping @Sendable () -> Void)
  /// Returns when all work scheduled before the call has run.
  func drain()
  /// Drains and ends the scheduler; work scheduled later is not run.
  func shutDown()
}

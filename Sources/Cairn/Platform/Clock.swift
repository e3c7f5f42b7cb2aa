#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Nanoseconds since 1970; 0 if the clock of the machine shows an earlier time.
package let systemClock: @Sendable () -> UInt64 = {
  var time = timespec()
  unsafe clock_gettime(CLOCK_REALTIME, &time)
  return nanosecondsSince1970(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
}

/// The time of a clock, limited to the times that can be expressed: the years 1970 to 2554.
package func nanosecondsSince1970(seconds: Int, nanoseconds: Int) -> UInt64 {
  guard seconds >= 0 else { return 0 }
  let (whole, isTooLate) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
  let (sum, isLater) = whole.addingReportingOverflow(UInt64(nanoseconds))
  return isTooLate || isLater ? .max : sum
}

/// Pauses the calling thread for about a number of nanoseconds. A thread that sleeps wakes some 60 microseconds late,
/// so for less than 50 microseconds the thread does not sleep, but lets others run until the time is over.
package let systemPause: @Sendable (Int) -> Void = { nanoseconds in
  guard nanoseconds < 50_000 else {
    var time = timespec(nanoseconds: nanoseconds)
    _ = unsafe nanosleep(&time, nil)
    return
  }
  let end = monotonicTime() + nanoseconds
  while monotonicTime() < end { sched_yield() }
}

/// Nanoseconds of a clock that never goes back.
let monotonicTime: @Sendable () -> Int = {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1_000_000_000 + time.tv_nsec
}

extension timespec {
  init(nanoseconds: Int) {
    self.init(tv_sec: nanoseconds / 1_000_000_000, tv_nsec: nanoseconds % 1_000_000_000)
  }
}

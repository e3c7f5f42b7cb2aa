import CCairnPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs work on one thread of its own, which is started with the first piece of work.
package final class ThreadScheduler: Scheduler {
  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var scheduled = 0
    var done = 0
    var isEnding = false
    /// Zero before the thread runs.
    var thread: UInt = 0
  }

  private let state = Monitor(State())
  private let process = cairn_process()

  package init() {}

  deinit {
    // A child of the process does not have the thread, and a thread that did not survive `fork` may hold the lock for
    // ever.
    if process == cairn_process() { state.withLock { $0.isEnding = true } }
  }

  package func schedule(_ work: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      guard !state.isEnding else { return false }
      state.waiting.append(work)
      state.scheduled += 1
      return state.scheduled == 1
    }
    if isFirst { start { [state] in Self.run(state) } }
  }

  /// Must not be called by scheduled work, which would wait for itself.
  package func drain() {
    let goal = state.withLock { $0.scheduled }
    state.wait { $0.done >= goal ? () : nil }
  }

  package func shutDown() {
    let isWorker = state.withLock { state in
      state.isEnding = true
      return state.thread == cairn_thread_token()
    }
    if !isWorker { drain() }
  }

  private static func run(_ state: Monitor<State>) {
    state.withLock { $0.thread = cairn_thread_token() }
    while true {
      let next: (@Sendable () -> Void)? = state.wait { state in
        state.waiting.isEmpty ? (state.isEnding ? .some(nil) : nil) : .some(state.waiting.removeFirst())
      }
      guard let next else { return }
      next()
      state.withLock { $0.done += 1 }
    }
  }
}

/// Runs `body` on a new thread.
private func start(_ body: @escaping @Sendable () -> Void) {
  final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }
  let argument = unsafe Unmanaged.passRetained(Body(body)).toOpaque()
  #if canImport(Glibc)
    var thread = pthread_t()
  #else
    var thread: pthread_t?
  #endif
  let code = unsafe pthread_create(
    &thread, nil,
    { argument in
      #if canImport(Darwin)
        let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
      #else
        let body = unsafe Unmanaged<Body>.fromOpaque(argument!).takeRetainedValue()
      #endif
      body.run()
      return nil
    }, argument)
  guard code == 0 else { fatalError("no thread could be started: error \(code)") }
  #if canImport(Glibc)
    _ = pthread_detach(thread)
  #else
    _ = unsafe pthread_detach(thread!)
  #endif
}

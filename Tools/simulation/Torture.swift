import ArgumentParser
import CairnSimulation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

@main
struct TortureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "torture",
    abstract: "Runs random programs on a simulated machine whose power fails and whose disk lies.",
    discussion: """
      Every state of the disk that a loss of power may cause is opened and compared with a model: the store must have \
      a prefix of the commits without holes, including all commits acknowledged as durable; its indexes must agree \
      with the log; and every byte must be accounted for.

      Tools/torture --kill [--seconds N] [--plain | --busy] kills real processes instead. With --plain they only put; \
      with --busy they do everything at once: batches, deletions, older versions, drops of keyspaces, snapshots, \
      checkpoints and compaction; with neither, both are run in turn.

      Exit status: 0 no failure found; 1 a failure found, printed with a program that reproduces it.
      """)

  @Option(help: "How many seconds to run.")
  var seconds = 60.0

  @Option(help: "The seed of all random decisions; random if omitted.")
  var seed: UInt64?

  @Option(help: "A file with a program to replay, as printed when a failure is found; - for standard input.")
  var replay: String?

  @Flag(help: "Print every call and result of the replayed program.")
  var trace = false

  func run() throws {
    if let replay { return try runReplay(replay) }
    Interruption.watch()
    let seed = seed ?? UInt64.random(in: 0...999_999_999)
    print("seed \(seed)")
    fflush(nil)
    let start = ContinuousClock.now
    var torture = Torture(seed: seed)
    var finding: Torture.Finding?
    var progress = Progress()
    while finding == nil, !Interruption.isRequested, elapsed(start) < seconds {
      finding = torture.advance()
      progress.show(torture.tally, elapsed(start), of: seconds)
    }
    progress.clear()
    print(Summary(tally: torture.tally, seconds: elapsed(start)).text)
    guard let finding else {
      if Interruption.isRequested { throw ExitCode(130) }
      return
    }
    try report(finding, seed: seed)
  }

  private func elapsed(_ start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) }

  private func report(_ finding: Torture.Finding, seed: UInt64) throws {
    print("\nFOUND (seed \(seed), program \(finding.program.seed)): \(finding.failure)")
    let start = ContinuousClock.now
    var shrinker = Shrinker(finding.program, finding.failure, finding.sampling) {
      elapsed(start) > 60 || Interruption.isRequested
    }
    shrinker.shrink()
    let path = "torture-\(finding.program.seed).program"
    print("\nshrunk in \(shrinker.runs) runs to: \(shrinker.best.failure)\n\n\(shrinker.best.program)")
    if write("\(shrinker.best.program)\n", to: path) { print("\nreplay: Tools/torture --replay \(path)") }
    throw ExitCode(1)
  }

  private func runReplay(_ path: String) throws {
    guard let text = read(path) else { throw ValidationError("\(path) cannot be read") }
    let program = try Program(parsing: text)
    for sampling in [Runner.Sampling.none, .some, .every(decisions: 2, random: 2), .every(decisions: 40, random: 8)] {
      let result = Runner.run(program, sampling, keepsTrace: trace)
      if trace { print(result.trace.joined(separator: "\n")) }
      guard let failure = result.failure else { continue }
      print("FOUND: \(failure)")
      throw ExitCode(1)
    }
    print("nothing found")
  }

  private func read(_ path: String) -> String? {
    let descriptor = path == "-" ? STDIN_FILENO : unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe systemRead(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return count == 0 ? String(decoding: bytes, as: UTF8.self) : nil }
      bytes += buffer.prefix(count)
    }
  }

  private func write(_ text: String, to path: String) -> Bool {
    guard let file = unsafe fopen(path, "w") else { return false }
    defer { unsafe fclose(file) }
    return unsafe fputs(text, file) >= 0
  }
}

/// Ends the run on Control-C, after which the results so far are printed.
enum Interruption {
  private static let requested = Atomic<Bool>(false)

  static var isRequested: Bool { requested.load(ordering: .relaxed) }

  static func watch() {
    signal(SIGINT) { _ in
      // A second Control-C ends the process at once.
      signal(SIGINT, SIG_DFL)
      Interruption.requested.store(true, ordering: .relaxed)
    }
  }
}

/// A progress line on the terminal, if standard error is one.
struct Progress {
  private let isShown = isatty(STDERR_FILENO) != 0
  private var last = 0.0

  mutating func show(_ tally: Tally, _ seconds: Double, of total: Double) {
    guard isShown, seconds - last > 0.5 else { return }
    last = seconds
    complain("\r\(Int(seconds)) of \(Int(total)) s: \(tally.programs) programs, \(tally.crashStates) crash states ")
  }

  func clear() { if isShown { complain("\r\u{1B}[K") } }

  private func complain(_ text: String) {
    var text = text
    text.withUTF8 { _ = unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  }
}

// A free function, because inside the command a method hides the name `read`.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
  unsafe read(descriptor, buffer, count)
}

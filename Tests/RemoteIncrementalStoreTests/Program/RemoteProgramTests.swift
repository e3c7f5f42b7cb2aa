import CairnSimulation
import Foundation
import RemoteIncrementalStore
import Testing

@Suite("Random programs on stores over a service", .serialized)
struct RemoteProgramTests {
  @Test(
    "Stores and their service agree in the end, whatever was lost, delayed or repeated, and no change is made twice.")
  func programs() async throws {
    // The same programs each time; longer looks take other seeds.
    let first = Self.number("REMOTE_SEED").map(UInt64.init) ?? 1
    let count = Self.number("REMOTE_PROGRAMS") ?? 20
    print("programs: REMOTE_SEED=\(first) REMOTE_PROGRAMS=\(count)")
    var tally: [String: Int] = [:]
    var failures: [String] = []
    for seed in first..<first + UInt64(count) {
      let program = RemoteProgram(seed: seed)
      switch await Self.run(program) {
      case .success(let counts): tally.merge(counts) { $0 + $1 }
      case .failure(let error):
        failures.append(
          "REMOTE_SEED=\(seed) REMOTE_PROGRAMS=1: \(program.steps.count) steps, \(program.options): \(error)")
        if Self.number("REMOTE_SHRINK") != nil { await Self.shrink(program) }
      }
    }
    for failure in failures { Issue.record("\(failure)") }
    print(
      "programs: \(failures.count) of \(count) failed; \(tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })"
    )
  }

  private static func number(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  /// Runs a program on a thread of its own, where it may wait.
  private static func run(_ program: RemoteProgram) async -> Result<[String: Int], any Error> {
    await withCheckedContinuation { continuation in
      Thread { continuation.resume(returning: Result { try RemoteRunner.run(program) }) }.start()
    }
  }

  /// Whether a program fails twice; threads run in different orders.
  private static func fails(_ program: RemoteProgram) async -> Bool {
    for _ in 0..<2 {
      if case .success = await run(program) { return false }
    }
    return true
  }

  /// Prints a shorter program that fails too.
  private static func shrink(_ program: RemoteProgram) async {
    var program = program
    var size = program.steps.count / 2
    while size > 0 {
      var start = 0
      while start < program.steps.count {
        var shorter = program
        shorter.steps.removeSubrange(start..<min(start + size, program.steps.count))
        if await fails(shorter) { program = shorter } else { start += size }
      }
      size /= 2
    }
    if case .failure(let error) = await run(program) { print("shrunk: \(error)") }
    print("shrunk: \(program)")
  }
}

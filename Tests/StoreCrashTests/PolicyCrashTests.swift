import Glibc
import Testing

/// `OPENCOREDATA_SEED` replays a program, and `OPENCOREDATA_PROGRAMS` runs more of them.
@Suite struct PolicyCrashTests {
  private static func number(_ variable: String) -> UInt64? {
    unsafe getenv(variable).flatMap { unsafe UInt64(String(cString: $0)) }
  }

  @Test("After a power loss at any call, both ends of relationships agree, whatever merge policies have decided.")
  func policies() {
    let first = Self.number("OPENCOREDATA_SEED") ?? .random(in: 0...UInt64.max)
    let count = Self.number("OPENCOREDATA_PROGRAMS") ?? 10
    print("PolicyCrashTests: OPENCOREDATA_SEED=\(first)")
    var disks = 0
    for index in 0..<count {
      let seed = first &+ index
      do {
        disks += try PolicyProgram.run(seed: seed, length: 120)
      } catch {
        Issue.record("OPENCOREDATA_SEED=\(seed): \(error)")
        return
      }
    }
    print("PolicyCrashTests: \(count) programs, \(disks) disks")
    #expect(disks > 0)
  }
}

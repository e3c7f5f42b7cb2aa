import CairnSimulation
import Synchronization

/// What a crash leaves: a disk, and the service as it was at that moment.
struct CrashMoment: Sendable {
  /// How many steps had ended.
  let step: Int
  /// Whether the next step had begun.
  let isAmid: Bool
  /// The number of the call at which the machine crashed.
  let call: Int
  let place: String
  let files: MemoryFileLayer
  let service: ServiceState
}

/// Watches the calls of a store to its disk. At each that changes the disk, takes what a loss of power, and the end of
/// the process, would leave, and at some what a loss of power leaves by chance. Equal moments are taken once.
final class CrashWatch: Sendable {
  private struct State {
    var step = 0
    var isAmid = false
    var calls = 0
    var moments: [CrashMoment] = []
    var seen: Set<[Int]> = []
  }

  private static let changes: Set<MemoryFileLayer.Operation> = [
    .createDirectory, .create, .rename, .remove, .syncDirectory, .lock, .write, .reserve, .truncate, .sync,
  ]

  private let state = Mutex(State())
  private let files: MemoryFileLayer
  private let service: SimulatedService

  private let oneIn: Int

  /// - Parameter oneIn: The machine crashes at one in this many calls.
  init(_ files: MemoryFileLayer, _ service: SimulatedService, oneIn: Int = 1) {
    (self.files, self.service, self.oneIn) = (files, service, oneIn)
    files.gate = { [unowned self] operation, path in
      if Self.changes.contains(operation) { crash("\(operation.rawValue) \(path)") }
    }
  }

  func end() { files.gate = nil }

  /// How many calls there were.
  var calls: Int { state.withLock { $0.calls } }

  /// A step begins.
  func begin() { state.withLock { $0.isAmid = true } }

  /// A step has ended. The first moment behind it is the one in which nothing is lost.
  func ended() {
    state.withLock {
      $0.step += 1
      $0.isAmid = false
    }
    crash("the end of a step")
  }

  /// The moments of the calls since this was last called.
  func takeMoments() -> [CrashMoment] {
    state.withLock { state in
      defer { state.moments = [] }
      return state.moments
    }
  }

  func crash(_ place: String) {
    state.withLock { state in
      state.calls += 1
      guard state.calls.isMultiple(of: oneIn) else { return }
      var disks = [("kill", files.afterKill()), ("loss", files.crash())]
      if state.calls.isMultiple(of: 3) {
        disks.append(("partial loss", files.crash(.random(seed: UInt64(state.calls))).files))
      }
      let now = service.now
      for (what, disk) in disks {
        let digest = [disk.contents.hashValue, now.log.count, now.applied.count, state.step, state.isAmid ? 1 : 0]
        guard state.seen.insert(digest).inserted else { continue }
        state.moments.append(
          CrashMoment(
            step: state.step, isAmid: state.isAmid, call: state.calls,
            place: "\(what) at call \(state.calls), \(place)",
            files: disk, service: now))
      }
    }
  }
}

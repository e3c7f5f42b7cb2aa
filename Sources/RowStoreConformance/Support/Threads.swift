import Foundation
import Synchronization

/// Threads that save, and threads that read meanwhile. The savers begin each round together, so that they get in each
/// other's way.
final class Threads: Sendable {
  /// How many seconds all of them may take.
  static let limit = 300.0
  /// How often each reader must have read before the savers end, unless these have made far more rounds than asked for.
  private static let fewestReads = 10
  private static let mostRounds = 10

  private let rounds: Int
  private let readsWanted: Int
  private let savers: Atomic<Int>
  private let rendezvous: Rendezvous
  private let savesMade = Atomic(0)
  private let readsMade = Atomic(0)
  private let group = DispatchGroup()
  private let readersToBegin = DispatchGroup()
  private let failure = Guarded<(any Error)?>(nil)

  init(savers: Int, rounds: Int, readers: Int) {
    self.savers = Atomic(savers)
    rendezvous = Rendezvous(savers)
    self.rounds = rounds
    readsWanted = readers * Self.fewestReads
    for _ in 0..<readers { readersToBegin.enter() }
  }

  /// How often savers have saved.
  var saves: Int { savesMade.load(ordering: .relaxed) }

  func startSaver(_ save: @escaping @Sendable (_ round: Int) throws -> Void) {
    start { [self] in
      readersToBegin.wait()
      defer {
        savers.subtract(1, ordering: .relaxed)
        rendezvous.leave()
      }
      var round = 0
      while round < rounds || round < Self.mostRounds * rounds && readsMade.load(ordering: .relaxed) < readsWanted {
        rendezvous.meet()
        try save(round)
        savesMade.add(1, ordering: .relaxed)
        round += 1
      }
    }
  }

  func startReader(_ read: @escaping @Sendable () throws -> Void) {
    start { [self] in
      readersToBegin.leave()
      repeat {
        try read()
        readsMade.add(1, ordering: .relaxed)
      } while savers.load(ordering: .relaxed) > 0
    }
  }

  private func start(_ body: @escaping @Sendable () throws -> Void) {
    group.enter()
    Thread.detachNewThread { [self] in
      do {
        try body()
      } catch {
        failure.withLock { $0 = $0 ?? error }
      }
      group.leave()
    }
  }

  /// Waits for the threads, and throws the first error. Returns false if they take too long.
  func join() throws -> Bool {
    guard group.wait(timeout: .now() + Self.limit) == .success else { return false }
    if let error = failure.withLock({ $0 }) { throw error }
    return true
  }
}

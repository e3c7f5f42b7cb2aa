import Foundation
import IncrementalStore
import Synchronization

extension Session {
  /// Lets several threads save and others read at once, each in a store of its own if several may have the database open.
  ///
  /// - Parameters:
  ///   - save: Called once in each saving thread, with the thread's number, counted from 0.
  ///   - read: Called again and again in each reading thread, until all saving threads have ended.
  func run(
    savers: Int, readers: Int = 0, save: @escaping @Sendable (any RowStore, Int) throws -> Void,
    read: @escaping @Sendable (any RowStore) throws -> Void = { _ in }
  ) throws {
    let threads = Threads(savers: savers)
    let stores = try stores(savers + readers)
    for (number, store) in stores.prefix(savers).enumerated() {
      threads.start {
        defer { threads.endSaver() }
        try save(store, number)
      }
    }
    for store in stores.suffix(readers) {
      threads.start { repeat { try read(store) } while threads.areSaving }
    }
    guard try threads.join() else {
      abandon()
      throw Finding("All threads should have saved and read within \(Threads.limit) seconds, but some still wait.")
    }
  }
}

private final class Threads: Sendable {
  /// How many seconds threads may take.
  static let limit = 300.0

  private let savers: Atomic<Int>
  private let group = DispatchGroup()
  private let failure = Mutex<(any Error)?>(nil)

  init(savers: Int) { self.savers = Atomic(savers) }

  var areSaving: Bool { savers.load(ordering: .relaxed) > 0 }

  func endSaver() { savers.subtract(1, ordering: .relaxed) }

  func start(_ body: @escaping @Sendable () throws -> Void) {
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

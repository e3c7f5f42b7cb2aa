import Foundation
import IncrementalStore

extension Session {
  /// Lets several threads save and others read at once, each in a store of its own if several may have the database
  /// open.
  ///
  /// - Parameters:
  ///   - rounds: How often each saving thread calls `save`. If there are readers, it goes on until these have read some
  ///     times as well, though not for ever.
  ///   - save: Called with the numbers of the thread and of the round, both counted from 0.
  ///   - read: Called again and again in each reading thread, until all saving threads have ended.
  /// - Returns: How often `save` was called.
  @discardableResult
  func run(
    savers: Int, rounds: Int, readers: Int = 0,
    save: @escaping @Sendable (_ store: any RowStore, _ thread: Int, _ round: Int) throws -> Void,
    read: @escaping @Sendable (any RowStore) throws -> Void = { _ in }
  ) throws -> Int {
    let threads = Threads(savers: savers, rounds: rounds, readers: readers)
    let stores = try stores(savers + readers)
    for (thread, store) in stores.prefix(savers).enumerated() {
      threads.startSaver { round in try save(store, thread, round) }
    }
    for store in stores.suffix(readers) { threads.startReader { try read(store) } }
    guard try threads.join() else {
      abandon()
      throw Finding("All threads should have saved and read within \(Threads.limit) seconds, but some still wait.")
    }
    return threads.saves
  }
}

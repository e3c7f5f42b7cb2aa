import CForking
import CairnIncrementalStore
import Foundation
import IncrementalStore
import RowStoreConformance
import Testing

/// Processes that are killed while they save. The forks happen in a process of their own.
@Suite struct KilledProcessTests {
  @Test("A process that is killed while it saves on Cairn leaves all acknowledged saves, and each as a whole.")
  func kill() async {
    await #expect(processExitsWith: .success) {
      let url = URL.temporaryDirectory.appending(path: UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: url) }
      var acknowledged = 0
      for round in 1...8 {
        let process = SavingProcess { acknowledge in
          try RowStoreConformance.saveUntilKilled(openCairn(at: url), acknowledge: acknowledge)
        }
        acknowledged = max(acknowledged, process.kill(after: 7 * round))
        let store = try openCairn(at: url)
        try RowStoreConformance.checkAfterKill(store, acknowledged: acknowledged)
        try store.close()
      }
    }
  }

  @Test("The check after a kill notices a lost save, a save too many, and a part of a save.")
  func faults() throws {
    let store = MemoryRowStore()
    #expect(throws: Stop.self) {
      try RowStoreConformance.saveUntilKilled(store) { number in if number == 5 { throw Stop() } }
    }
    for acknowledged in 0...7 {
      let finding = finding { () throws(RowStoreConformance.Failure) in
        try RowStoreConformance.checkAfterKill(store, acknowledged: acknowledged)
      }
      #expect((finding == nil) == (4...5).contains(acknowledged), "\(acknowledged): \(finding ?? "nothing")")
    }
    _ = try store.save { _ in
      var changes = RowChanges()
      changes.addedEntries = [[1]]
      return changes
    }
    let finding = finding { () throws(RowStoreConformance.Failure) in
      try RowStoreConformance.checkAfterKill(store, acknowledged: 5)
    }
    #expect(finding?.contains("The entries after save 5") == true)
  }

  private func finding(_ body: () throws(RowStoreConformance.Failure) -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return error.finding
    }
  }
}

private struct Stop: Error {}

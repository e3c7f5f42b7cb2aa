import CoreData

/// Apple's Core Data asks only its own stores for history, so other stores record none.
struct HistoryRecorder {
  let position: HistoryPosition? = nil

  init(_ store: RowIncrementalStore, _ context: NSManagedObjectContext?) {}

  mutating func record(_ objects: [SavedObject], in changes: inout RowChanges, _ snapshot: any RowSnapshot) throws {}
}

extension RowIncrementalStore {
  func beginHistoryUpkeep() {}

  func note(_ position: HistoryPosition?) {}
}

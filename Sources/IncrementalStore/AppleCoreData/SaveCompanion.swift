/// Apple's Core Data has no store that writes more rows with each save.
package protocol SaveCompanion: AnyObject {}

extension RowIncrementalStore {
  func addCompanions(of objects: [SavedObject], to changes: inout RowChanges, _ snapshot: any RowSnapshot) throws {}
  func companionsWereSaved(with objects: [SavedObject]) {}
}

import OpenCoreData

extension RowIncrementalStore: SaveNumberingStore {}

extension RowIncrementalStore: ComparingStore {
  package var comparesRows: Bool { savesKnownRows }
}

import OpenCoreData

extension RowIncrementalStore: SaveNumberingStore {}

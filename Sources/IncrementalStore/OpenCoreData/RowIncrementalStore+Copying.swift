import OpenCoreData

extension RowIncrementalStore: LargeStore {}

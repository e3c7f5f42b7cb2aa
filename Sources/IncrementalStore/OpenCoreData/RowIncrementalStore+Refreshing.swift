import OpenCoreData

extension RowIncrementalStore: RefreshableStore {}

import OpenCoreData

extension CairnIncrementalStore: ConcurrentStore {}

import Foundation

/// The result of a request that is neither a fetch nor a save; use a subclass.
open class NSPersistentStoreResult: NSObject {}

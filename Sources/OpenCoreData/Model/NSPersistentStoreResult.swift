import Foundation

/// What a context answers to a request that is neither a fetch nor a save; use a subclass.
open class NSPersistentStoreResult: NSObject {}

/// The store classes of the process, by their types.
enum StoreRegistry {
  private static let classes = Locked<[String: NSIncrementalStore.Type]>([NSInMemoryStoreType: InMemoryStore.self])

  static var all: [String: NSIncrementalStore.Type] { classes.withLock { $0 } }

  static func register(_ storeClass: NSIncrementalStore.Type?, for type: String) {
    classes.withLock { $0[type] = storeClass }
  }

  /// - Throws: ``NSPersistentStoreInvalidTypeError`` if no class is registered.
  static func storeClass(for type: String) throws -> NSIncrementalStore.Type {
    let classes = all
    if let storeClass = classes[type] { return storeClass }
    let known = classes.keys.sorted().joined(separator: ", ")
    throw CoreDataError.make(
      NSPersistentStoreInvalidTypeError,
      "No store class is registered for the type \(type), only for \(known). "
        + "Register one with NSPersistentStoreCoordinator.registerStoreClass(_:type:), or ask for one of these types; "
        + "a store description has the type \(NSSQLiteStoreType) unless its type is set.")
  }
}

/// A fetch request with any type of results.
protocol StoreFetch {
  func forStores(_ model: NSManagedObjectModel) -> NSFetchRequest<NSManagedObject>
  /// A copy of the request whose results may be anything.
  func forAnything() -> NSFetchRequest<Any>
}

extension NSFetchRequest: StoreFetch {
  /// A copy of the request for the stores, with its entity set.
  func forStores(_ model: NSManagedObjectModel) -> NSFetchRequest<NSManagedObject> {
    let copy = NSFetchRequest<NSManagedObject>(copying: self)
    copy.entity = entity ?? entityName.flatMap { model.entitiesByName[$0] }
    return copy
  }

  func forAnything() -> NSFetchRequest<Any> { NSFetchRequest<Any>(copying: self) }
}

import CoreData

extension NSManagedObjectContext {
  /// A new context on the main queue. What it saves becomes a change of this context.
  @MainActor
  func child(named name: String) -> NSManagedObjectContext {
    let child = NSManagedObjectContext(.mainQueue)
    child.name = name
    child.parent = self
    return child
  }

  /// The object in this context that has the same identifier as an object of its parent.
  func own<Object: NSManagedObject>(_ object: Object) throws -> Object {
    guard let own = try existingObject(with: object.objectID) as? Object else { fatalError("It has another class.") }
    return own
  }
}

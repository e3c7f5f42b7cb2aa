import CoreData

extension NSManagedObjectContext {
  /// A new object with these values.
  @discardableResult
  func make(_ entityName: String, _ values: [String: Any] = [:]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entityName, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  /// The objects of an entity, by name.
  func all(_ entityName: String, _ format: String? = nil) throws -> [NSManagedObject] {
    try fetch(people(format, entityName))
  }

  /// The person of that name.
  func person(_ name: String) throws -> NSManagedObject {
    try all("Person", "name = '\(name)'").first!
  }

  /// The names of the people, one after the other.
  func names(_ request: NSFetchRequest<NSManagedObject> = people()) throws -> String {
    try fetch(request).map { $0["name"] as? String ?? "nil" }.joined(separator: " ")
  }
}

/// A request for people, by name.
func people(_ format: String? = nil, _ entityName: String = "Person") -> NSFetchRequest<NSManagedObject> {
  let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
  request.predicate = format.map { NSPredicate(format: $0) }
  if entityName == "Person" { request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)] }
  return request
}

extension NSManagedObject {
  /// The objects of a to-many relationship, in their order if they have one.
  func members(_ key: String) -> [NSManagedObject] {
    switch value(forKey: key) {
    case let ordered as NSOrderedSet: ordered.array as! [NSManagedObject]
    case let set as NSSet: set.allObjects as! [NSManagedObject]
    default: []
    }
  }

  /// The names of the objects of a to-many relationship, in alphabetical order.
  func names(_ key: String) -> [String] { members(key).map { $0["name"] as? String ?? "nil" }.sorted() }
}

/// The error that the block throws; nil if it throws none.
func thrown<Result>(_ body: () throws -> Result) -> NSError? {
  do {
    _ = try body()
    return nil
  } catch {
    return error as NSError
  }
}

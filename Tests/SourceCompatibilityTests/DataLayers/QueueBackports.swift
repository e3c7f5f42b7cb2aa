import CoreData

/// Methods with results, as applications declared them before Core Data had them. Each calls Core Data's method without
/// a result.
extension NSManagedObjectContext {
  fileprivate func performAndWait<Result>(_ work: () -> Result) -> Result {
    var result: Result!
    performAndWait { result = work() }
    return result
  }

  fileprivate func performAndWait<Result>(_ work: () throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>!
    performAndWait { result = Swift.Result { try work() } }
    return try result.get()
  }
}

struct RecipeCounter {
  let context: NSManagedObjectContext

  func count() throws -> Int {
    try context.performAndWait { try context.count(for: NSFetchRequest<Recipe>(entityName: "Recipe")) }
  }

  var hasChanges: Bool { context.performAndWait { context.hasChanges } }

  func reset() { context.performAndWait { context.reset() } }
}

import CoreData
import Foundation

struct RecipeLookup {
  let context: NSManagedObjectContext

  func recipe(id: UUID) throws -> Recipe? {
    let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
    request.predicate = NSPredicate(format: "id == %@", id as CVarArg)
    request.fetchLimit = 1
    return try context.fetch(request).first
  }

  func recipe(uuid: NSUUID) throws -> Recipe? {
    return try first(NSPredicate(format: "%K = %@", "id", uuid))
  }

  func recipes(ids: [UUID]) throws -> [Recipe] {
    return try all(NSPredicate(format: "id IN %@", ids as CVarArg))
  }

  func recipes(except ids: Set<UUID>) throws -> [Recipe] {
    return try all(NSPredicate(format: "NOT (id IN %@)", ids as NSSet))
  }

  func recipe(website: URL) throws -> Recipe? {
    return try first(NSPredicate(format: "website == %@", website as CVarArg))
  }

  func recipe(host: String) throws -> Recipe? {
    return try first(NSPredicate(format: "website == %@", NSURL(string: "https://\(host)/")!))
  }

  func recipe(thumbnail: Data) throws -> Recipe? {
    return try first(NSPredicate(format: "thumbnail == %@", thumbnail as CVarArg))
  }

  func recipes(withObjectIDs objectIDs: [NSManagedObjectID]) throws -> [Recipe] {
    return try all(NSPredicate(format: "SELF IN %@", objectIDs))
  }

  func ingredients(of recipe: Recipe) throws -> [Ingredient] {
    let request = NSFetchRequest<Ingredient>(entityName: "Ingredient")
    request.predicate = NSPredicate(format: "recipe == %@", recipe)
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }

  func ingredients(cheaperThan price: Decimal) throws -> [Ingredient] {
    let request = NSFetchRequest<Ingredient>(entityName: "Ingredient")
    request.predicate = NSPredicate(format: "price < %@", price as NSDecimalNumber)
    return try context.fetch(request)
  }

  private func first(_ predicate: NSPredicate) throws -> Recipe? {
    return try all(predicate).first
  }

  private func all(_ predicate: NSPredicate) throws -> [Recipe] {
    let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }
}

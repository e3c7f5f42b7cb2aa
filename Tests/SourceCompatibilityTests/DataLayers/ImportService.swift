import CoreData
import Foundation

struct RecipePayload: Codable {
  let id: UUID
  let name: String
  let cuisine: String?
  let rating: Double
}

enum ImportError: Error {
  case creationError
  case batchError(String)
}

final class ImportService {
  private let container: NSPersistentContainer
  private let batchSize: Int

  init(container: NSPersistentContainer, batchSize: Int = 100) {
    self.container = container
    self.batchSize = batchSize
  }

  /// Imports in batches on a context of its own.
  func importRecipes(_ payloads: [RecipePayload]) throws -> Int {
    let taskContext = container.newBackgroundContext()
    taskContext.name = "importContext"
    taskContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    taskContext.transactionAuthor = "import"

    var imported = 0
    var performError: Error?
    for start in stride(from: 0, to: payloads.count, by: batchSize) {
      let batch = payloads[start..<min(start + batchSize, payloads.count)]
      taskContext.performAndWait {
        do {
          let existing = try self.existingRecipes(ids: batch.map(\.id), in: taskContext)
          for payload in batch {
            let recipe = existing[payload.id] ?? Recipe(context: taskContext)
            recipe.id = payload.id
            recipe.name = payload.name
            recipe.cuisine = payload.cuisine
            recipe.rating = payload.rating
            imported += 1
          }
          try taskContext.save()
          taskContext.reset()
        } catch {
          performError = error
          taskContext.rollback()
        }
      }
    }
    if let error = performError { throw error }
    return imported
  }

  private func existingRecipes(ids: [UUID], in context: NSManagedObjectContext) throws -> [UUID: Recipe] {
    let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
    request.predicate = NSPredicate(format: "id IN %@", ids)
    request.returnsObjectsAsFaults = false
    let pairs = try context.fetch(request).compactMap { recipe in recipe.id.map { ($0, recipe) } }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// The same in a task.
  func importRecipes(json: Data) async throws -> [NSManagedObjectID] {
    let payloads = try JSONDecoder().decode([RecipePayload].self, from: json)
    return try await container.performBackgroundTask { context in
      context.mergePolicy = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
      let recipes = payloads.map { payload -> Recipe in
        let recipe = Recipe(context: context)
        recipe.id = payload.id
        recipe.name = payload.name
        return recipe
      }
      try context.obtainPermanentIDs(for: recipes)
      try context.save()
      return recipes.map(\.objectID)
    }
  }

  /// The same with a completion handler.
  func removeAll(completion: @escaping (Result<Int, Error>) -> Void) {
    container.performBackgroundTask { context in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Recipe")
      request.includesPropertyValues = false
      do {
        let objects = try context.fetch(request)
        for object in objects { context.delete(object) }
        try context.save()
        completion(.success(objects.count))
      } catch {
        completion(.failure(error))
      }
    }
  }
}

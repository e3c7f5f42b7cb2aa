import CoreData
import Foundation

struct RecipeSnapshot: Identifiable, Hashable, Sendable {
  let id: UUID
  let name: String
  let ingredients: [String]
}

protocol RecipeStoring: Sendable {
  func add(_ name: String, ingredients: [String]) async throws -> UUID
  func recipes(matching text: String?) async throws -> [RecipeSnapshot]
  func remove(_ id: UUID) async throws
}

/// The application's recipes, for callers that await them.
actor RecipeStore: RecipeStoring {
  private let container: NSPersistentContainer
  private lazy var context: NSManagedObjectContext = {
    let context = container.newBackgroundContext()
    context.name = "RecipeStore"
    context.automaticallyMergesChangesFromParent = true
    return context
  }()

  init(container: NSPersistentContainer) {
    self.container = container
  }

  func add(_ name: String, ingredients: [String]) async throws -> UUID {
    let id = UUID()
    try await container.performBackgroundTask { context in
      let recipe = Recipe(context: context)
      recipe.id = id
      recipe.name = name
      for name in ingredients { recipe.addIngredient(name, price: 1) }
      try context.save()
    }
    return id
  }

  func recipes(matching text: String? = nil) async throws -> [RecipeSnapshot] {
    let context = self.context
    return try await context.perform {
      let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
      if let text = text { request.predicate = NSPredicate(format: "name CONTAINS[cd] %@", text) }
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(request).map { recipe in
        RecipeSnapshot(
          id: recipe.id ?? UUID(), name: recipe.name, ingredients: recipe.sortedIngredients.map(\.name))
      }
    }
  }

  func remove(_ id: UUID) async throws {
    let context = self.context
    try await context.perform(schedule: .enqueued) {
      let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
      request.predicate = NSPredicate(format: "id == %@", id as CVarArg)
      for recipe in try context.fetch(request) { context.delete(recipe) }
      try context.save()
    }
  }

  func count() async throws -> Int {
    let context = self.context
    return try await context.perform { try context.count(for: NSFetchRequest<Recipe>(entityName: "Recipe")) }
  }
}

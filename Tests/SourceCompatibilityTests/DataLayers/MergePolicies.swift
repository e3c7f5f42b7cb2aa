import CoreData
import Foundation

/// Keeps the longer of two names, whoever saved it.
final class LongerNamePolicy: NSMergePolicy, @unchecked Sendable {
  private(set) var resolved = 0

  init() {
    super.init(merge: .mergeByPropertyObjectTrumpMergePolicyType)
  }

  override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
    let stored = list.map { conflict in
      conflict.persistedSnapshot?["name"] as? String ?? conflict.cachedSnapshot?["name"] as? String
    }
    try super.resolve(optimisticLockingConflicts: list)
    for (conflict, name) in zip(list, stored) {
      guard let recipe = conflict.sourceObject as? Recipe, let name = name else { continue }
      if name.count > recipe.name.count { recipe.name = name }
      resolved += 1
    }
  }
}

/// Two contexts that change one recipe.
final class ConflictScene {
  private let first: NSManagedObjectContext
  private let second: NSManagedObjectContext
  private let objectID: NSManagedObjectID

  init(container: NSPersistentContainer) throws {
    first = container.newBackgroundContext()
    second = container.newBackgroundContext()
    let context = first
    objectID = try context.performAndWait {
      let recipe = Recipe(context: context)
      recipe.name = "Soup"
      try context.save()
      return recipe.objectID
    }
  }

  /// The name and the rating that are stored after both have saved.
  func play(policy: Any, firstName: String, secondName: String) throws -> (name: String, rating: Double) {
    second.mergePolicy = policy
    try second.performAndWait {
      let recipe = try second.existingObject(with: objectID) as! Recipe
      recipe.name = secondName
    }
    try first.performAndWait {
      let recipe = first.object(with: objectID) as! Recipe
      recipe.name = firstName
      recipe.rating = 4
      try first.save()
    }
    return try second.performAndWait {
      try second.save()
      let recipe = second.object(with: objectID) as! Recipe
      second.refresh(recipe, mergeChanges: false)
      return (recipe.name, recipe.rating)
    }
  }
}

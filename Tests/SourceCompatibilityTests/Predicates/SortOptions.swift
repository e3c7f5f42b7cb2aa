import CoreData
import Foundation

enum RecipeSort: String, CaseIterable {
  case name, newest, rating, cuisine

  var sortDescriptors: [NSSortDescriptor] {
    switch self {
    case .name:
      return [
        NSSortDescriptor(
          key: "name", ascending: true, selector: Selector("localizedStandardCompare:"))
      ]
    case .newest:
      return [NSSortDescriptor(key: "createdAt", ascending: false)]
    case .rating:
      return [NSSortDescriptor(key: "rating", ascending: false), NSSortDescriptor(key: "name", ascending: true)]
    case .cuisine:
      return [
        NSSortDescriptor(key: "cuisine", ascending: true, selector: NSSelectorFromString("caseInsensitiveCompare:")),
        NSSortDescriptor(keyPath: \Recipe.rating, ascending: false),
      ]
    }
  }

  var next: RecipeSort {
    let all = RecipeSort.allCases
    let index = all.firstIndex(of: self)!
    return all[(index + 1) % all.count]
  }
}

final class RecipeList {
  private let context: NSManagedObjectContext
  var sort: RecipeSort = .name

  init(context: NSManagedObjectContext) {
    self.context = context
  }

  func names() throws -> [String] {
    let request = NSFetchRequest<Recipe>(entityName: "Recipe")
    request.sortDescriptors = sort.sortDescriptors
    return try context.fetch(request).map { $0.name }
  }

  func reversedNames() throws -> [String] {
    let request = NSFetchRequest<Recipe>(entityName: "Recipe")
    request.sortDescriptors = sort.sortDescriptors.compactMap { $0.reversedSortDescriptor as? NSSortDescriptor }
    return try context.fetch(request).map { $0.name }
  }

  func page(_ number: Int, size: Int) throws -> [String] {
    let request = NSFetchRequest<Recipe>(entityName: "Recipe")
    request.sortDescriptors = sort.sortDescriptors
    request.fetchOffset = number * size
    request.fetchLimit = size
    return try context.fetch(request).map { $0.name }
  }

  /// Sorts in memory, by the length of the names.
  func namesByLength(_ recipes: [Recipe]) -> [String] {
    let byLength = NSSortDescriptor(key: "name", ascending: true) { left, right in
      let (left, right) = (left as! String, right as! String)
      if left.count == right.count { return .orderedSame }
      return left.count < right.count ? .orderedAscending : .orderedDescending
    }
    let sorted = (recipes as NSArray).sortedArray(using: [byLength, NSSortDescriptor(key: "name", ascending: true)])
    return (sorted as! [Recipe]).map { $0.name }
  }
}

import CoreData
import Foundation

struct RecipeFilter {
  var searchText = ""
  var cuisines: Set<String> = []
  var minimumRating: Double?
  var onlyFavorites = false
  var servings: ClosedRange<Int>?

  var predicate: NSPredicate? {
    var predicates: [NSPredicate] = []
    if !searchText.isEmpty {
      predicates.append(NSPredicate(format: "%K CONTAINS[cd] %@", "name", searchText))
    }
    if !cuisines.isEmpty {
      predicates.append(NSPredicate(format: "cuisine IN %@", cuisines))
    }
    if let minimumRating = minimumRating {
      predicates.append(NSPredicate(format: "rating >= %f", minimumRating))
    }
    if onlyFavorites {
      predicates.append(NSPredicate(format: "isFavorite == %@", NSNumber(value: true)))
    }
    if let servings = servings {
      predicates.append(NSPredicate(format: "servings BETWEEN %@", [servings.lowerBound, servings.upperBound]))
    }
    switch predicates.count {
    case 0: return nil
    case 1: return predicates.first
    default: return NSCompoundPredicate(type: .and, subpredicates: predicates)
    }
  }

  func request() -> NSFetchRequest<Recipe> {
    let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return request
  }

  /// The same with `YES`, `%d` and a Boolean argument, as others write it.
  static func favorites() -> [NSPredicate] {
    return [
      NSPredicate(format: "isFavorite == YES"),
      NSPredicate(format: "isFavorite = true"),
      NSPredicate(format: "isFavorite == %d", true),
      NSPredicate(format: "isFavorite == %@", true as NSNumber),
      NSPredicate(format: "%K == %@", argumentArray: ["isFavorite", true]),
      NSPredicate(format: "isFavorite == TRUE && %K != NIL", "name"),
    ]
  }
}

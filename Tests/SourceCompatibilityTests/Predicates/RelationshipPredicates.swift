import CoreData
import Foundation

enum IngredientQuery {
  case contains(String)
  case containsAll([String])
  case atLeast(Int)
  case expensive(over: Decimal, count: Int)
  case onlyCheaperThan(Decimal)
  case without(String)
  case totalOver(Decimal)

  var predicate: NSPredicate {
    switch self {
    case .contains(let name):
      return NSPredicate(format: "ANY ingredients.name ==[c] %@", name)
    case .containsAll(let names):
      return NSCompoundPredicate(
        andPredicateWithSubpredicates: names.map { NSPredicate(format: "ANY ingredients.name == %@", $0) })
    case .atLeast(let count):
      return NSPredicate(format: "ingredients.@count >= %d", count)
    case .expensive(let price, let count):
      return NSPredicate(
        format: "SUBQUERY(ingredients, $ingredient, $ingredient.price > %@).@count >= %d",
        price as NSDecimalNumber, count)
    case .onlyCheaperThan(let price):
      return NSPredicate(format: "ALL ingredients.price < %@", NSDecimalNumber(decimal: price))
    case .without(let name):
      return NSPredicate(format: "SUBQUERY(ingredients, $x, $x.name == %@).@count == 0", name)
    case .totalOver(let price):
      return NSPredicate(format: "ingredients.@sum.price > %@", price as NSDecimalNumber)
    }
  }

  /// The same subquery, built from expressions.
  static func priced(over price: Decimal, minimum: Int) -> NSPredicate {
    let subquery = NSExpression(
      forSubquery: NSExpression(forKeyPath: "ingredients"), usingIteratorVariable: "item",
      predicate: NSPredicate(format: "$item.price > %@", price as NSDecimalNumber))
    let count = NSExpression(forFunction: "count:", arguments: [subquery])
    return NSComparisonPredicate(
      leftExpression: count, rightExpression: NSExpression(forConstantValue: minimum), modifier: .direct,
      type: .greaterThanOrEqualTo, options: [])
  }

  func names(in context: NSManagedObjectContext) throws -> [String] {
    let request = NSFetchRequest<Recipe>(entityName: "Recipe")
    request.predicate = predicate
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    request.relationshipKeyPathsForPrefetching = ["ingredients"]
    return try context.fetch(request).map(\.name)
  }
}

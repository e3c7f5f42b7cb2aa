import CoreData
import Foundation

enum SavedSearch: String {
  case cuisine, rating

  var template: NSPredicate {
    switch self {
    case .cuisine: return NSPredicate(format: "cuisine == $CUISINE AND rating >= $RATING")
    case .rating: return NSPredicate(format: "rating > $RATING")
    }
  }

  static func install(in model: NSManagedObjectModel) {
    for search in [SavedSearch.cuisine, .rating] {
      let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Recipe")
      request.predicate = search.template
      model.setFetchRequestTemplate(request, forName: search.rawValue)
    }
  }

  func names(with variables: [String: Any], in context: NSManagedObjectContext) throws -> [String] {
    let model = context.persistentStoreCoordinator!.managedObjectModel
    guard let request = model.fetchRequestFromTemplate(withName: rawValue, substitutionVariables: variables) else {
      return []
    }
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let recipes = try context.fetch(request) as! [Recipe]
    return recipes.map(\.name)
  }
}

struct PriceRule {
  let expression: NSExpression

  init(_ format: String, _ arguments: CVarArg...) {
    expression = NSExpression(format: format, argumentArray: arguments)
  }

  func value(for row: [String: Any]) -> Double? {
    return expression.expressionValue(with: row, context: nil) as? Double
  }

  static func median(_ numbers: [Double]) -> Double? {
    let expression = NSExpression(forFunction: "median:", arguments: [NSExpression(forConstantValue: numbers)])
    return expression.expressionValue(with: nil, context: nil) as? Double
  }
}

struct Rule {
  let name: String
  let predicate: NSPredicate

  func applies(to object: Any, variables: [String: Any] = [:]) -> Bool {
    predicate.withSubstitutionVariables(variables).evaluate(with: object)
  }

  static let all: [Rule] = [
    Rule(name: "always", predicate: NSPredicate(value: true)),
    Rule(name: "never", predicate: NSPredicate(value: false)),
    Rule(name: "large", predicate: NSPredicate(format: "servings > $LIMIT")),
    Rule(
      name: "block",
      predicate: NSPredicate { object, _ in (object as? [String: Any])?["name"] as? String == "Soup" }),
  ]
}

import CoreData
import Foundation

struct CuisineStatistics: Equatable {
  let cuisine: String
  let count: Int
  let averageRating: Double
}

struct RecipeStatistics {
  let context: NSManagedObjectContext

  func totalPrice() throws -> Decimal {
    let description = NSExpressionDescription()
    description.name = "total"
    description.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "price")])
    description.expressionResultType = .decimalAttributeType

    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Ingredient")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [description]
    let results = try context.fetch(request) as? [[String: Any]]
    return (results?.first?["total"] as? NSDecimalNumber)?.decimalValue ?? 0
  }

  func highestRating(of cuisine: String) throws -> Double? {
    let request = NSFetchRequest<NSDictionary>(entityName: "Recipe")
    request.resultType = .dictionaryResultType
    request.predicate = NSPredicate(format: "cuisine == %@", cuisine)
    request.propertiesToFetch = [NSExpressionDescription.aggregate("max", of: "rating", as: .doubleAttributeType)]
    return try context.fetch(request).first?["maxRating"] as? Double
  }

  func byCuisine(minimumCount: Int) throws -> [CuisineStatistics] {
    let request = NSFetchRequest<NSDictionary>(entityName: "Recipe")
    let count = NSExpressionDescription.aggregate("count", of: "name", as: .integer64AttributeType)
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = [
      "cuisine", count, NSExpressionDescription.aggregate("average", of: "rating", as: .doubleAttributeType),
    ]
    request.propertiesToGroupBy = ["cuisine"]
    request.havingPredicate = NSPredicate(format: "%@ >= %d", NSExpression(forVariable: "countName"), minimumCount)
    request.sortDescriptors = [NSSortDescriptor(key: "cuisine", ascending: true)]
    return try context.fetch(request).map { row in
      CuisineStatistics(
        cuisine: row["cuisine"] as? String ?? "", count: (row["countName"] as? NSNumber)?.intValue ?? 0,
        averageRating: row["averageRating"] as? Double ?? 0)
    }
  }

  func distinctCuisines() throws -> [String] {
    let request: NSFetchRequest<NSFetchRequestResult> = NSFetchRequest(entityName: "Recipe")
    request.resultType = .dictionaryResultType
    request.returnsDistinctResults = true
    request.propertiesToFetch = ["cuisine"]
    request.predicate = NSPredicate(format: "cuisine != nil")
    request.sortDescriptors = [NSSortDescriptor(key: "cuisine", ascending: true)]
    let rows = try context.fetch(request) as! [[String: Any]]
    return rows.map { $0["cuisine"] as! String }
  }
}

extension NSExpressionDescription {
  static func aggregate(
    _ function: String, of keyPath: String, as type: NSAttributeType
  ) -> NSExpressionDescription {
    let description = NSExpressionDescription()
    description.name = function + keyPath.prefix(1).uppercased() + keyPath.dropFirst()
    description.expression = NSExpression(forFunction: function + ":", arguments: [NSExpression(forKeyPath: keyPath)])
    description.expressionResultType = type
    return description
  }
}

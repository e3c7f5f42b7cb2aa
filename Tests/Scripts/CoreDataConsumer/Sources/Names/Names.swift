import CoreData

typealias NSExpression = CoreData.NSExpression
typealias NSComparisonPredicate = CoreData.NSComparisonPredicate

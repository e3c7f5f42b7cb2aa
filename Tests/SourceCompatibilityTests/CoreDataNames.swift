import CoreData

// Outside Apple's platforms, Foundation declares empty classes with these names. These aliases serve all files of the
// module.
typealias NSExpression = CoreData.NSExpression
typealias NSComparisonPredicate = CoreData.NSComparisonPredicate

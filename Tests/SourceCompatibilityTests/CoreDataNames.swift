import CoreData

// Foundation declares empty classes of these names off Apple's platforms. These lines serve all files of the module.
typealias NSExpression = CoreData.NSExpression
typealias NSComparisonPredicate = CoreData.NSComparisonPredicate

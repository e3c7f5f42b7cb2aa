@_exported public import OpenCoreData

// Foundation, which this module's users import along, has classes of these names too. The names are declared here once
// more, so that `import class CoreData.NSExpression` selects the class of Core Data.

/// An operand of a predicate: `OpenCoreData.NSExpression`.
public typealias NSExpression = OpenCoreData.NSExpression

/// A predicate that compares the values of two expressions: `OpenCoreData.NSComparisonPredicate`.
public typealias NSComparisonPredicate = OpenCoreData.NSComparisonPredicate

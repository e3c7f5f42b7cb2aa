@_exported public import OpenCoreData

// Declared here once more so that `import class CoreData.NSExpression` says which is meant: Foundation, which comes along, has classes of
// these names too.

/// What a predicate compares: `OpenCoreData.NSExpression`.
public typealias NSExpression = OpenCoreData.NSExpression

/// A predicate that compares the values of two expressions: `OpenCoreData.NSComparisonPredicate`.
public typealias NSComparisonPredicate = OpenCoreData.NSComparisonPredicate

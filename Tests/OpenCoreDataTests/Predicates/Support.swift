import OpenCoreData
import Testing

/// Whether a predicate holds for an object.
func holds(_ format: String, _ arguments: Any?..., for object: Any? = nil) throws -> Bool {
  try NSPredicate(parsing: format, arguments: arguments).evaluate(with: object)
}

/// The value of an expression.
func value(_ format: String, _ arguments: Any?..., for object: Any? = nil) throws -> PredicateValue {
  PredicateValue(try NSExpression(parsing: format, arguments: arguments).expressionValue(with: object, context: nil))
}

/// The comparison that a format describes.
func comparison(_ format: String, _ arguments: Any?...) throws -> NSComparisonPredicate {
  try #require(try NSPredicate(parsing: format, arguments: arguments) as? NSComparisonPredicate)
}

/// The compound predicate that a format describes.
func compound(_ format: String, _ arguments: Any?...) throws -> NSCompoundPredicate {
  try #require(try NSPredicate(parsing: format, arguments: arguments) as? NSCompoundPredicate)
}

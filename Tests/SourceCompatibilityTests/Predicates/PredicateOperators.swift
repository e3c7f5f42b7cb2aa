import CoreData
import Foundation

/// A key with the type of its values, compared with operators.
struct Key<Root, Value> {
  let name: String

  init(_ name: String) {
    self.name = name
  }

  fileprivate func predicate(
    _ type: NSComparisonPredicate.Operator, _ value: Any?, options: NSComparisonPredicate.Options = []
  ) -> NSComparisonPredicate {
    return NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: name), rightExpression: NSExpression(forConstantValue: value),
      modifier: .direct, type: type, options: options)
  }

  func isIn(_ values: [Value]) -> NSPredicate {
    return predicate(.in, values)
  }

  func isBetween(_ range: ClosedRange<Value>) -> NSPredicate where Value: Comparable {
    let bounds = NSExpression(forAggregate: [
      NSExpression(forConstantValue: range.lowerBound), NSExpression(forConstantValue: range.upperBound),
    ])
    return NSComparisonPredicate(
      leftExpression: .init(forKeyPath: name), rightExpression: bounds, modifier: .direct, type: .between, options: [])
  }
}

extension Key where Value == String {
  func contains(_ text: String) -> NSPredicate {
    return predicate(.contains, text, options: [.caseInsensitive, .diacriticInsensitive])
  }

  func hasPrefix(_ text: String) -> NSPredicate {
    return predicate(.beginsWith, text, options: .caseInsensitive)
  }
}

func == <Root, Value: Equatable>(key: Key<Root, Value>, value: Value) -> NSPredicate {
  return key.predicate(.equalTo, value)
}

func != <Root, Value: Equatable>(key: Key<Root, Value>, value: Value) -> NSPredicate {
  return key.predicate(.notEqualTo, value)
}

func > <Root, Value: Comparable>(key: Key<Root, Value>, value: Value) -> NSPredicate {
  return key.predicate(.greaterThan, value)
}

func <= <Root, Value: Comparable>(key: Key<Root, Value>, value: Value) -> NSPredicate {
  return key.predicate(.lessThanOrEqualTo, value)
}

func && (left: NSPredicate, right: NSPredicate) -> NSPredicate {
  return NSCompoundPredicate(andPredicateWithSubpredicates: [left, right])
}

func || (left: NSPredicate, right: NSPredicate) -> NSPredicate {
  return NSCompoundPredicate(orPredicateWithSubpredicates: [left, right])
}

prefix func ! (predicate: NSPredicate) -> NSPredicate {
  return NSCompoundPredicate(notPredicateWithSubpredicate: predicate)
}

extension Recipe {
  enum Keys {
    static let name = Key<Recipe, String>("name")
    static let cuisine = Key<Recipe, String>("cuisine")
    static let rating = Key<Recipe, Double>("rating")
    static let servings = Key<Recipe, Int16>("servings")
  }
}

import Foundation

import class CoreData.NSComparisonPredicate
import class CoreData.NSExpression

func path(of predicate: NSPredicate) -> String? {
  let expression: NSExpression? = (predicate as? NSComparisonPredicate)?.leftExpression
  return expression?.keyPath
}

import Foundation

/// An expression whose value is an array with the results of a fetch request, or their number.
///
/// It is written `FETCH(request, context, NO)`, or with `YES` for the number. Both parts are expressions, whose values
/// are the request and the context; evaluate the whole on the queue of that context. Evaluation ends the program if the
/// values are anything else, or if the fetch fails.
///
/// `NSExpression(format:)` makes an equal expression that is no instance of this class.
open class NSFetchRequestExpression: NSExpression {
  /// An expression for the results of a request, or for their number.
  public class func expression(
    forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
  ) -> NSExpression {
    NSFetchRequestExpression(.fetch(fetch, context: context, isCount: countFlag))
  }

  /// The expression for the request.
  open var requestExpression: NSExpression {
    if case .fetch(let request, _, _) = form { request } else { missing("request") }
  }

  /// The expression for the context.
  open var contextExpression: NSExpression {
    if case .fetch(_, let context, _) = form { context } else { missing("context") }
  }

  /// Whether the value is the number of results.
  open var isCountOnlyRequest: Bool {
    if case .fetch(_, _, let isCount) = form { isCount } else { missing("count") }
  }

  static func result(of request: Any?, in context: Any?, isCount: Bool) -> PredicateValue {
    guard let request = request as? any StoreFetch, let context = context as? NSManagedObjectContext else {
      fatalError("FETCH needs a fetch request and a context")
    }
    let fetch = request.forAnything()
    do {
      return isCount ? .integer(Int64(try context.count(for: fetch))) : PredicateValue(try context.fetch(fetch))
    } catch {
      fatalError("\(fetch) has failed: \(error)")
    }
  }
}

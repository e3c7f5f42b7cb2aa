import CoreData
import Foundation

/// Turns what a user types into a predicate.
struct SearchQuery {
  let text: String
  let fields: [String]

  private var tokens: [String] {
    return text.components(separatedBy: .whitespacesAndNewlines).filter { !$0.isEmpty }
  }

  var predicate: NSPredicate {
    guard !tokens.isEmpty else { return NSPredicate(value: true) }
    return NSCompoundPredicate(andPredicateWithSubpredicates: tokens.map(predicate(forToken:)))
  }

  private func predicate(forToken token: String) -> NSPredicate {
    if token.hasPrefix("-"), token.count > 1 {
      let excluded = String(token.dropFirst())
      return NSCompoundPredicate(notPredicateWithSubpredicate: anyField(contains: excluded))
    }
    if token.contains("*") || token.contains("?") {
      return NSCompoundPredicate(
        orPredicateWithSubpredicates: fields.map { NSPredicate(format: "%K LIKE[cd] %@", $0, token) })
    }
    if token.hasPrefix("/"), token.hasSuffix("/"), token.count > 2 {
      let pattern = String(token.dropFirst().dropLast())
      return NSCompoundPredicate(
        orPredicateWithSubpredicates: fields.map { NSPredicate(format: "%K MATCHES %@", $0, pattern) })
    }
    return anyField(contains: token)
  }

  private func anyField(contains token: String) -> NSPredicate {
    var subpredicates = [NSPredicate]()
    for field in fields {
      let predicate = NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: field), rightExpression: NSExpression(forConstantValue: token),
        modifier: NSComparisonPredicate.Modifier.direct, type: NSComparisonPredicate.Operator.contains,
        options: [NSComparisonPredicate.Options.caseInsensitive, .diacriticInsensitive])
      subpredicates.append(predicate)
    }
    return NSCompoundPredicate(orPredicateWithSubpredicates: subpredicates)
  }
}

extension Array where Element: NSObject {
  func filtered(by query: SearchQuery) -> [Element] {
    return filter { query.predicate.evaluate(with: $0) }
  }
}

extension SearchQuery {
  static func matches(_ text: String, in names: [String]) -> [String] {
    let predicate = NSPredicate(format: "SELF CONTAINS[cd] %@", text)
    return names.filter { predicate.evaluate(with: $0) }
  }

  static func isValidEmail(_ text: String) -> Bool {
    let pattern = "[A-Z0-9a-z._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,}"
    return NSPredicate(format: "SELF MATCHES %@", pattern).evaluate(with: text)
  }
}

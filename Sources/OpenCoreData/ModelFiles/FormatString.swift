import Foundation

/// Where model files meet the language of predicates.
enum FormatString {
  struct NotUnderstood: Error {}

  static func predicate(_ format: String, _ arguments: [Any] = []) throws -> NSPredicate { throw NotUnderstood() }

  static func expression(_ format: String) throws -> NSExpression { throw NotUnderstood() }
}

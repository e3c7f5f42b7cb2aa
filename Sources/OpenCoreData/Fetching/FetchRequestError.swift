public import Foundation

/// The reason why a fetch request is invalid for its entity. Nothing has been fetched.
public struct FetchRequestError: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Reason: Hashable, Sendable {
    /// The key path contains a key that is neither an attribute nor a relationship.
    case unknownKeyPath
    /// The key path contains a transient property, which stores do not know.
    case transientProperty
    /// There are several values where one is needed: a quantifier or an aggregate is missing.
    case toMany
    /// There is one value where several are needed.
    case notToMany
    /// A dictionary is made from several rows, which may have different values.
    case notGrouped
    /// An element of the properties to fetch or to group by is neither a name nor a property, is an incomplete
    /// expression, or is an aggregate to group by.
    case noProperty
    /// Only dictionaries can be grouped.
    case groupingWithoutDictionaries
    /// There is a predicate for groups, but the request does not group.
    case havingWithoutGrouping
    /// A predicate or an expression cannot be evaluated.
    case notEvaluable(PredicateCompilationError)
  }

  /// What is wrong.
  public let reason: Reason
  /// The name of the entity.
  public let entityName: String
  /// The invalid key path, or the invalid expression in the format language; nil if the request as a whole is invalid.
  public let keyPath: String?

  init(_ reason: Reason, _ entity: NSEntityDescription, keyPath: String? = nil) {
    self.reason = reason
    entityName = entity.name ?? ""
    self.keyPath = keyPath
  }
}

extension FetchRequestError: CustomStringConvertible {
  /// The error in words.
  public var description: String {
    let subject = "\(keyPath.map { "'\($0)'" } ?? "the request") for \(entityName)"
    return switch reason {
    case .unknownKeyPath: "\(subject) meets no attribute or relationship"
    case .transientProperty: "\(subject) meets a transient property"
    case .toMany: "\(subject) is several values where one is needed"
    case .notToMany: "\(subject) is one value where several are needed"
    case .notGrouped: "\(subject) is not among the properties to group by"
    case .noProperty: "\(subject) is no property to fetch or to group by"
    case .groupingWithoutDictionaries: "\(subject) groups what are not dictionaries"
    case .havingWithoutGrouping: "\(subject) has a predicate for groups and does not group"
    case .notEvaluable(let error): "\(subject) cannot be evaluated: \(error)"
    }
  }
}

extension FetchRequestError: CustomNSError {
  /// The domain of Cocoa errors, to which Core Data's errors belong.
  public static var errorDomain: String { NSCocoaErrorDomain }

  /// The code of a general Core Data error. Apple's Core Data raises an exception instead, which has no code.
  public var errorCode: Int { 134060 }

  /// The description.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

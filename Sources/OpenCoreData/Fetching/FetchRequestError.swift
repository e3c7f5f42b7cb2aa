public import Foundation

/// Why a fetch request makes no sense for the objects of its entity; nothing has been fetched then.
public struct FetchRequestError: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Reason: Hashable, Sendable {
    /// The key path meets something that is neither an attribute nor a relationship.
    case unknownKeyPath
    /// The key path meets a transient property, of which a store knows nothing.
    case transientProperty
    /// There are several values where one is needed: a quantifier or an aggregate is missing.
    case toMany
    /// There is one value where several are needed.
    case notToMany
    /// A dictionary is made of many rows that need not agree on the value.
    case notGrouped
    /// Something among the properties is neither a name nor a property, or it is an expression that lacks a part.
    case noProperty
    /// Only dictionaries can be grouped.
    case groupingWithoutDictionaries
    /// A predicate for groups, and no groups.
    case havingWithoutGrouping
    /// A predicate or an expression cannot be evaluated.
    case notEvaluable(PredicateCompilationError)
  }

  /// What is wrong.
  public let reason: Reason
  /// The name of the entity.
  public let entityName: String
  /// The key path that it is wrong with, or the expression in the format language; nil if it is the request as a whole.
  public let keyPath: String?

  init(_ reason: Reason, _ entity: NSEntityDescription, keyPath: String? = nil) {
    self.reason = reason
    entityName = entity.name ?? ""
    self.keyPath = keyPath
  }
}

extension FetchRequestError: CustomStringConvertible {
  /// A sentence.
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
  /// Core Data's errors are Cocoa's.
  public static var errorDomain: String { NSCocoaErrorDomain }

  /// The general error of Core Data: Apple's raises an exception here, which has no code.
  public var errorCode: Int { 134060 }

  /// The sentence.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }
}

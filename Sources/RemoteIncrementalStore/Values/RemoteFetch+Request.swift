import IncrementalStore
import OpenCoreData

extension RemoteFetch {
  /// A fetch request as a service sees it; nil without an entity.
  ///
  /// - Parameter identifier: What the service calls an object; nil if it does not know the object.
  init?(_ request: NSFetchRequest<NSManagedObject>, _ identifier: (NSManagedObjectID) -> RemoteIdentifier?) {
    guard let name = request.entityName else { return nil }
    self.init(
      name, includesSubentities: request.includesSubentities,
      predicate: request.predicate.map { RemotePredicate($0, identifier) },
      order: (request.sortDescriptors ?? []).compactMap { descriptor in
        descriptor.key.map { RemoteOrder($0, isAscending: descriptor.ascending) }
      },
      offset: max(0, request.fetchOffset), limit: max(0, request.fetchLimit))
  }
}

extension RemotePredicate {
  /// A predicate as a tree.
  init(_ predicate: NSPredicate, _ identifier: (NSManagedObjectID) -> RemoteIdentifier?) {
    self = Self.tree(predicate, identifier) ?? .other(predicate.description)
  }

  private static func tree(
    _ predicate: NSPredicate, _ identifier: (NSManagedObjectID) -> RemoteIdentifier?
  ) -> RemotePredicate? {
    switch predicate {
    case let compound as NSCompoundPredicate:
      let parts = compound.subpredicates.map { RemotePredicate($0, identifier) }
      return switch compound.compoundPredicateType {
      case .and: .and(parts)
      case .or: .or(parts)
      case .not: parts.first.map { .not($0) }
      @unknown default: nil
      }
    case let comparison as NSComparisonPredicate:
      guard comparison.comparisonPredicateModifier == .direct else { return nil }
      return self.comparison(comparison, identifier)
    default: return nil
    }
  }

  private static func comparison(
    _ predicate: NSComparisonPredicate, _ identifier: (NSManagedObjectID) -> RemoteIdentifier?
  ) -> RemotePredicate? {
    var (left, right) = (predicate.leftExpression, predicate.rightExpression)
    var type = predicate.predicateOperatorType
    if left.expressionType == .constantValue, let mirrored = type.mirrored {
      (left, right, type) = (right, left, mirrored)
    }
    guard let path = left.remotePath else { return nil }
    let ignoresCase = predicate.options.contains(.caseInsensitive)
    guard predicate.options.isSubset(of: [.caseInsensitive]) else { return nil }
    switch type {
    case .in:
      guard !ignoresCase, let values = right.remoteValues(identifier) else { return nil }
      return .isIn(path, values)
    case .between:
      guard let values = right.remoteValues(identifier), values.count == 2 else { return nil }
      return .between(path, values[0], values[1])
    default:
      guard let comparison = Comparison(type), right.expressionType == .constantValue,
        let value = RemoteValue(constant: right.constantValue, identifier)
      else { return nil }
      return .comparison(path, comparison, value, ignoringCase: ignoresCase)
    }
  }
}

extension RemotePredicate.Comparison {
  fileprivate init?(_ type: NSComparisonPredicate.Operator) {
    switch type {
    case .equalTo: self = .equal
    case .notEqualTo: self = .notEqual
    case .lessThan: self = .less
    case .lessThanOrEqualTo: self = .lessOrEqual
    case .greaterThan: self = .greater
    case .greaterThanOrEqualTo: self = .greaterOrEqual
    case .beginsWith: self = .beginsWith
    case .endsWith: self = .endsWith
    case .contains: self = .contains
    case .like: self = .like
    case .matches: self = .matches
    default: return nil
    }
  }
}

extension NSExpression {
  fileprivate var remotePath: String? {
    switch expressionType {
    case .keyPath: keyPath == "objectID" || keyPath == "self" ? "SELF" : keyPath
    case .evaluatedObject: "SELF"
    default: nil
    }
  }

  fileprivate func remoteValues(_ identifier: (NSManagedObjectID) -> RemoteIdentifier?) -> [RemoteValue]? {
    let constants: [Any?]
    switch expressionType {
    case .constantValue:
      guard let elements = Self.elements(of: constantValue) else { return nil }
      constants = elements
    case .aggregate:
      guard let parts = collection as? [NSExpression], parts.allSatisfy({ $0.expressionType == .constantValue }) else {
        return nil
      }
      constants = parts.map(\.constantValue)
    default: return nil
    }
    let values = constants.map { RemoteValue(constant: $0, identifier) }
    return values.contains(nil) ? nil : values.compactMap(\.self)
  }
}

extension RemoteValue {
  /// Nil for a constant that services do not know.
  fileprivate init?(constant: Any?, _ identifier: (NSManagedObjectID) -> RemoteIdentifier?) {
    switch constant {
    case nil, is NSNull: self = .null
    case let value as Bool where Swift.type(of: constant!) == Bool.self: self = .bool(value)
    case let value as String: self = .string(value)
    case let value as Int: self = .integer(Int64(value))
    case let value as any FixedWidthInteger:
      guard let number = Int64(exactly: value) else { return nil }
      self = .integer(number)
    case let value as Double: self = .double(value)
    case let value as NSDecimalNumber: self = .decimal(value.decimalValue)
    case let value as NSNumber:
      self = CFNumberKind.isFloating(value) ? .double(value.doubleValue) : .integer(value.int64Value)
    case let value as Date: self = .date(value)
    case let value as UUID: self = .uuid(value)
    case let value as URL: self = .url(value)
    case let value as Data: self = .data(value)
    default:
      guard let id = NSManagedObjectID.identifying(constant), let identifier = identifier(id) else { return nil }
      self = .object(identifier)
    }
  }
}

private enum CFNumberKind {
  static func isFloating(_ number: NSNumber) -> Bool {
    ["d", "f"].contains { unsafe String(cString: number.objCType) == $0 }
  }
}

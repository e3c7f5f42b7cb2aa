import Foundation

/// What a predicate, sort descriptors and key paths read besides the properties of an object itself.
struct ResultDependencies {
  private let entity: NSEntityDescription
  /// The entities of related objects that are read.
  private(set) var watched: [NSEntityDescription] = []
  /// Whether anything else may be read.
  private(set) var areUnknown = false

  init(_ entity: NSEntityDescription) { self.entity = entity }

  /// Notes the objects to which a key path leads. Returns whether it leads through a to-many relationship.
  @discardableResult
  mutating func read(path: String) -> Bool {
    var (place, isToMany) = (entity, false)
    for key in path.split(separator: ".") where !key.hasPrefix("@") && key != "self" {
      if place !== entity || isToMany { watch(place) }
      guard let relationship = place.propertiesByName[String(key)] as? NSRelationshipDescription else { break }
      guard let destination = relationship.destinationEntity else { break }
      isToMany = isToMany || relationship.isToMany
      // The owner may not be told when a member is deleted.
      if relationship.isToMany || relationship.inverseRelationship == nil { watch(destination) }
      place = destination
    }
    return isToMany
  }

  private mutating func watch(_ entity: NSEntityDescription) {
    if !watched.contains(where: { $0 === entity }) { watched.append(entity) }
  }

  mutating func read(_ descriptor: NSSortDescriptor) {
    guard let keyed = descriptor.keyed else {
      areUnknown = true
      return
    }
    if let key = keyed.sortKey { read(path: key) }
  }

  mutating func read(_ predicate: NSPredicate) {
    switch predicate {
    case let comparison as NSComparisonPredicate:
      read(comparison.leftExpression)
      read(comparison.rightExpression)
    case let compound as NSCompoundPredicate: for part in compound.subpredicates { read(part) }
    case NSPredicate(value: true), NSPredicate(value: false): break
    default: areUnknown = true
    }
  }

  private mutating func read(_ expression: NSExpression) {
    switch expression.form {
    case .constant, .evaluatedObject: break
    case .keyPath(let path): read(path: path)
    case .aggregate(let parts), .function(_, let parts): for part in parts { read(part) }
    case .set(_, let left, let right):
      read(left)
      read(right)
    case .variable, .path, .call, .fetch, .subquery, .anyKey, .block, .conditional: areUnknown = true
    }
  }
}

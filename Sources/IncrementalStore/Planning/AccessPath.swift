import CoreData

/// A way to the rows that may satisfy a predicate: each row that does is among those that the path leads to.
///
/// It is made from a predicate and the schema alone. Which rows it leads to is read from a snapshot, by
/// ``CandidateReader``.
indirect enum AccessPath {
  /// To these objects.
  case objects([ObjectReference])
  /// From an object to the objects at the other end of a relationship.
  case opposites(of: ObjectReference, Inverse)
  /// From the objects that satisfy a predicate of their own to those at the other end of a relationship.
  case related(Related)
  /// To the objects that have one of these keys for a uniqueness constraint.
  case holders(of: [[UInt8]], EntityMap.Constraint)
  /// To the objects in a section of a declared index.
  case indexed(IndexSection)
  /// To what at least one of several paths leads to.
  case union([AccessPath])
  /// To what the shortest of several paths leads to. Each by itself leads to all rows that satisfy the predicate.
  case shortest([AccessPath])

  /// The inverse of a relationship, through which a path leads back to the relationship's own end.
  struct Inverse {
    let relationship: NSRelationshipDescription
    let end: EntityMap.Inverse

    /// As in `Issue.comments`.
    var name: String { "\(relationship.entity.name ?? "").\(relationship.name)" }

    /// The entity of the objects to which the path leads.
    var destination: NSEntityDescription? { relationship.destinationEntity }
  }

  /// The objects of an entity that satisfy a predicate, and the way from them.
  struct Related {
    let map: EntityMap
    let predicate: NSPredicate
    let inverse: Inverse
  }

  /// Whether the path leads to all rows that satisfy its predicate and to no others, so that they can be counted
  /// without being read. Only entries of relationships and of declared indexes tell that: STORE-FORMAT.md, section 6.
  var isExact: Bool {
    switch self {
    case .opposites(_, let inverse): if case .toMany = inverse.end { true } else { false }
    case .related(let related): if case .toMany = related.inverse.end { true } else { false }
    case .indexed(let section): section.isExact
    case .union(let paths): paths.allSatisfy(\.isExact)
    case .objects, .holders, .shortest: false
    }
  }

  /// Whether the rows to which the path leads are known to satisfy the predicate, and are not tested. Those of an index
  /// are so cheaply tested that they are tested all the same.
  var isCertain: Bool {
    switch self {
    case .objects: true
    case .opposites, .related: isExact
    case .union(let paths): paths.allSatisfy(\.isCertain)
    case .holders, .indexed, .shortest: false
    }
  }
}

extension AccessPath: CustomStringConvertible {
  /// The path in words.
  var description: String {
    switch self {
    case .objects(let objects): "\(objects.count) named"
    case .opposites(let object, let inverse): "\(inverse.name) of \(object.reference)"
    case .related(let related): "\(related.inverse.name) of those with \(related.predicate)"
    case .holders(let keys, let constraint):
      "\(keys.count) with a unique \(constraint.names.joined(separator: ", "))"
    case .indexed(let section): "\(section)"
    case .union(let paths): Self.list(paths, " or ")
    case .shortest(let paths): paths.count == 1 ? "\(paths[0])" : "the fewest of " + Self.list(paths, "; ")
    }
  }

  /// The first paths of a list, which may be long, and the number of the others.
  private static func list(_ paths: [AccessPath], _ separator: String) -> String {
    let shown = paths.prefix(4).map(\.description).joined(separator: separator)
    return paths.count > 4 ? shown + separator + "\(paths.count - 4) more" : paths.isEmpty ? "none" : shown
  }
}

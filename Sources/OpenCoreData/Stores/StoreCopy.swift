import Foundation

/// Copies all objects of a store into an empty one.
///
/// As many objects as one part may have are copied in one save. More are copied in parts: first all objects with their
/// attributes; then their relationships; last the order of ordered relationships, for which all members must be there.
/// Apart from one part, only the identifiers of the objects are in memory. The new store is marked as an
/// ``IncompleteCopy`` until the last save.
final class StoreCopy {
  /// How many objects a part has.
  private static let part = 1000

  private enum Stage {
    /// All relationships of objects that are all in memory.
    case whole
    /// To-one relationships and members of unordered relationships.
    case members
    /// Members of ordered relationships, and their order.
    case order
  }

  private let source: CopySource
  private let target: NSIncrementalStore
  /// A coordinator that has only the target.
  private let coordinator: NSPersistentStoreCoordinator
  private var identifiers: CopiedIdentifiers
  private let progress = Progress(totalUnitCount: 0)

  /// - Parameters:
  ///   - source: a store of the coordinator.
  ///   - target: a store whose metadata are loaded.
  /// - Returns: the identifiers of the copies.
  /// - Throws: ``NSMigrationCancelledError`` if the progress is cancelled; any error of either store.
  static func run(
    _ source: NSIncrementalStore, of coordinator: NSPersistentStoreCoordinator, _ target: NSIncrementalStore
  ) throws -> CopiedIdentifiers {
    let copy = StoreCopy(source, coordinator, target)
    defer { copy.coordinator.stores = [] }
    try copy.source.context.performAndWait { try copy.run() }
    return copy.identifiers
  }

  private init(
    _ source: NSIncrementalStore, _ coordinator: NSPersistentStoreCoordinator, _ target: NSIncrementalStore
  ) {
    guard let identity = source.identity, let targetIdentity = target.identity else {
      fatalError("A store is copied before its metadata are loaded.")
    }
    self.source = CopySource(source, of: coordinator)
    self.target = target
    self.coordinator = NSPersistentStoreCoordinator(managedObjectModel: coordinator.managedObjectModel)
    self.coordinator.stores = [target]
    identifiers = CopiedIdentifiers(identity, targetIdentity)
  }

  private func run() throws {
    try source.pin()
    let count = try source.entities.reduce(0) { try $0 + source.count(of: $1) }
    progress.totalUnitCount = Int64(3 * count)
    target.carryMetadata(of: source.store)
    // An atomic store writes everything with each save.
    if count <= Self.part || target is NSAtomicStore { try copyWhole() } else { try copyInParts() }
  }

  private func copyWhole() throws {
    try write(savesMetadata: true) { part in
      try forEachPartOfSource { try insert($0, into: part) }
      identifiers.sort()
      try forEachPart { for id in $0 { _ = try relate(id, .whole, in: part) } }
    }
    progress.completedUnitCount = progress.totalUnitCount
  }

  private func copyInParts() throws {
    IncompleteCopy.begin(target)
    try write(savesMetadata: true) { _ in }
    try forEachPartOfSource { ids in
      try write { part in try insert(ids, into: part) }
    }
    identifiers.sort()
    for stage in [Stage.members, .order] { try forEachPart { try relate($0, stage) } }
    IncompleteCopy.end(target)
    try write(savesMetadata: true) { _ in }
  }

  private func write(savesMetadata: Bool = false, _ body: (CopyPart) throws -> Void) throws {
    try CopyPart.write(to: target, of: coordinator, savesMetadata: savesMetadata, body)
  }

  // MARK: Parts

  private func forEachPartOfSource(_ body: ([NSManagedObjectID]) throws -> Void) throws {
    for entity in source.entities {
      try source.forEachPart(of: entity, size: Self.part) { try step($0, body) }
    }
  }

  private func forEachPart(_ body: ([NSManagedObjectID]) throws -> Void) throws {
    for entity in source.entities {
      try identifiers.forEachPart(of: entity, size: Self.part) { try step($0, body) }
    }
  }

  private func step(_ ids: [NSManagedObjectID], _ body: ([NSManagedObjectID]) throws -> Void) throws {
    guard !progress.isCancelled else {
      throw CoreDataError.make(NSMigrationCancelledError, "The migration was cancelled.")
    }
    try body(ids)
    progress.completedUnitCount += Int64(ids.count)
  }

  // MARK: Objects

  private func insert(_ ids: [NSManagedObjectID], into part: CopyPart) throws {
    for (id, copy) in zip(ids, try part.insert(copiesOf: ids)) {
      identifiers.add(copy.objectID, for: id)
      let values = try source.values(of: id)
      for (place, slot) in id.entity.layout.slots.enumerated() where !slot.isTransient && slot.attribute != nil {
        copy.put(values[place], at: place)
      }
    }
  }

  // MARK: Relationships

  private func relate(_ ids: [NSManagedObjectID], _ stage: Stage) throws {
    var rest = ids[...]
    while !rest.isEmpty {
      var large: [LargeSet] = []
      try write { part in
        while part.count < Self.part, let id = rest.popFirst() { large += try relate(id, stage, in: part) }
      }
      for set in large {
        for start in stride(from: 0, to: set.members.count, by: Self.part) {
          let members = set.members[start..<min(start + Self.part, set.members.count)]
          try write { part in try part.add(Array(members), to: part.object(set.owner), set.relationship) }
        }
      }
    }
  }

  /// Members of an unordered relationship that are too many for a part.
  private struct LargeSet {
    let owner: NSManagedObjectID
    let relationship: NSRelationshipDescription
    let members: [NSManagedObjectID]
  }

  /// Copies the relationships of an object that belong to a stage. References to objects that were not copied are left
  /// out.
  ///
  /// - Returns: relationships that are to be copied in parts of their own.
  private func relate(_ id: NSManagedObjectID, _ stage: Stage, in part: CopyPart) throws -> [LargeSet] {
    guard id.entity.layout.relationships.contains(where: { belongs($0, of: id.entity, stage) }),
      let copy = identifiers.copy(of: id)
    else { return [] }
    let values = try source.values(of: id)
    var large: [LargeSet] = []
    for place in id.entity.layout.relationships where belongs(place, of: id.entity, stage) {
      guard let relationship = id.entity.layout.slots[place].relationship else { continue }
      if !relationship.isToMany {
        guard let other = values[place].objectID.flatMap(identifiers.copy) else { continue }
        try part.relate(part.object(copy), relationship, to: other)
        continue
      }
      let members = try source.members(of: relationship, of: id).compactMap(identifiers.copy)
      if stage == .members, members.count > Self.part {
        large.append(LargeSet(owner: copy, relationship: relationship, members: members))
      } else if !members.isEmpty {
        try part.add(members, to: part.object(copy), relationship)
      }
    }
    return large
  }

  private func belongs(_ place: Int, of entity: NSEntityDescription, _ stage: Stage) -> Bool {
    let slot = entity.layout.slots[place]
    guard let relationship = slot.relationship, !slot.isTransient else { return false }
    switch stage {
    case .whole: return true
    case .members:
      let isKnown = relationship.isToMany && relationship.inverseRelationship?.isToMany == false
      return !relationship.isOrdered && !(isKnown && target is any LargeStore)
    case .order: return relationship.isOrdered
    }
  }
}

import Foundation

/// Which objects of the new store were made from which objects of the old one, for each mapping.
///
/// It keeps identifiers only. Objects that have no permanent identifier yet are kept until ``settle()`` is called.
struct MigrationAssociations {
  private struct Table {
    var made: [(source: NSManagedObjectID, destination: NSManagedObjectID)] = []
    var bySource: [NSManagedObjectID: [Int]] = [:]
    var byDestination: [NSManagedObjectID: [Int]] = [:]

    mutating func add(_ source: NSManagedObjectID, _ destination: NSManagedObjectID) {
      bySource[source, default: []].append(made.count)
      byDestination[destination, default: []].append(made.count)
      made.append((source, destination))
    }
  }

  private var tables: [String: Table] = [:]
  private var unsettled: [(mapping: String, source: NSManagedObjectID, destination: NSManagedObject)] = []

  mutating func add(_ source: NSManagedObject, _ destination: NSManagedObject, _ mapping: String) {
    if destination.objectID.isTemporaryID {
      unsettled.append((mapping, source.objectID, destination))
    } else {
      tables[mapping, default: Table()].add(source.objectID, destination.objectID)
    }
  }

  /// Call this after a save, which gives all objects permanent identifiers.
  mutating func settle() {
    for (mapping, source, destination) in unsettled where !destination.objectID.isTemporaryID {
      tables[mapping, default: Table()].add(source, destination.objectID)
    }
    unsettled.removeAll()
  }

  /// The identifiers of the objects that a mapping has made, in the order in which it has made them.
  func destinations(_ mapping: String) -> [NSManagedObjectID] { tables[mapping]?.made.map(\.destination) ?? [] }

  func destinations(
    _ mapping: String, _ sources: [NSManagedObject]?, in context: NSManagedObjectContext
  ) -> [NSManagedObject] {
    let table = tables[mapping] ?? Table()
    let waiting = unsettled.filter { $0.mapping == mapping }
    guard let sources else {
      return table.made.map { context.object(with: $0.destination) } + waiting.map(\.destination)
    }
    return sources.map(\.objectID).flatMap { id in
      (table.bySource[id] ?? []).map { context.object(with: table.made[$0].destination) }
        + waiting.filter { $0.source == id }.map(\.destination)
    }
  }

  func sources(
    _ mapping: String, _ destinations: [NSManagedObject]?, in context: NSManagedObjectContext
  ) -> [NSManagedObject] {
    let table = tables[mapping] ?? Table()
    let waiting = unsettled.filter { $0.mapping == mapping }
    guard let destinations else {
      var seen: Set<NSManagedObjectID> = []
      return (table.made.map(\.source) + waiting.map(\.source)).filter { seen.insert($0).inserted }
        .map(context.object(with:))
    }
    return destinations.flatMap { object in
      ((table.byDestination[object.objectID] ?? []).map { table.made[$0].source }
        + waiting.filter { $0.destination === object }.map(\.source)).map(context.object(with:))
    }
  }
}

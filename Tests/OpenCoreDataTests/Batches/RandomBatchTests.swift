import CairnInspection
import OpenCoreData
import Testing

/// Random batch requests on random graphs, beside a store in which a context makes the same changes.
///
/// `OPENCOREDATA_SEED` replays a program, `OPENCOREDATA_PROGRAMS` runs more of them.
@Suite struct RandomBatchTests {
  private static let count = setting("OPENCOREDATA_PROGRAMS").flatMap { Int($0) } ?? 8

  @Test(
    "A batch request leaves the same objects and relationships as a context that makes the same changes, or both fail.",
    arguments: [AgreementStores.Kind.memory, .rows, .cairn])
  func program(_ kind: AgreementStores.Kind) {
    let first = chooseSeed("RandomBatchTests, \(kind)")
    for index in 0..<Self.count {
      let seed = first &+ UInt64(index)
      do {
        try BatchProgram.run(seed: seed, kind)
      } catch {
        Issue.record("OPENCOREDATA_SEED=\(seed): \(error)")
        return
      }
    }
  }
}

private struct BatchProgram {
  private let (batches, contexts): (AgreementStores, AgreementStores)
  private var random: SeededGenerator
  private var serials = 0

  static func run(seed: UInt64, _ kind: AgreementStores.Kind) throws {
    var program = BatchProgram(
      batches: try AgreementStores(kind), contexts: try AgreementStores(.memory), random: SeededGenerator(seed: seed))
    for step in 0..<30 {
      do {
        try program.step()
        try program.compare()
      } catch {
        throw GraphMismatch("step \(step): \(error)")
      }
    }
  }

  private init(batches: AgreementStores, contexts: AgreementStores, random: SeededGenerator) {
    (self.batches, self.contexts, self.random) = (batches, contexts, random)
  }

  private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  /// Some serial numbers, which may be of no object.
  private mutating func some() -> [Int] { (0...chance(3)).map { _ in chance(serials + 1) + 1 } }

  private mutating func step() throws {
    let perSave = chance(2) * (1 + chance(3))
    switch chance(10) {
    case 0..<3: try insert(perSave)
    case 3..<6: try relate()
    case 6..<8: try update(perSave)
    default: try delete()
    }
  }

  // MARK: Steps

  private mutating func insert(_ objectsPerSave: Int) throws {
    let entity = chance(3) == 0 ? "Leaf" : "Node"
    let rows = (0...chance(4)).map { _ in
      serials += 1
      return (serial: serials, number: chance(5), parent: chance(serials + 3), subject: chance(2) * chance(serials))
    }
    let context = batches.contexts[0]
    try context.performAndWait {
      let request = NSBatchInsertRequest(
        entityName: entity,
        objects: try rows.map { row in
          var values: [String: Any] = ["serial": row.serial, "number": row.number]
          values["parent"] = try Self.find([row.parent], context).first?.objectID
          values["subject"] = try Self.find([row.subject], context).first?.objectID
          return values
        })
      request.objectsPerSave = objectsPerSave
      _ = try context.execute(request)
    }
    let other = contexts.contexts[0]
    try other.performAndWait {
      // Objects of the same request cannot be related to each other.
      let related = try rows.map { row in
        (try Self.find([row.parent], other).first, try Self.find([row.subject], other).first)
      }
      for (row, (parent, subject)) in zip(rows, related) {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: other)
        object.setValue(row.serial, forKey: "serial")
        object.setValue(row.number, forKey: "number")
        object.setValue(parent, forKey: "parent")
        object.setValue(subject, forKey: "subject")
      }
      try other.save()
      other.reset()
    }
  }

  /// Relates objects by contexts in ways that batch requests cannot.
  private mutating func relate() throws {
    let (property, objects, others) = (
      [GraphProperty.friends, .members, .peer, .head, .warden][chance(5)], some(), some()
    )
    for context in [batches.contexts[0], contexts.contexts[0]] {
      try context.performAndWait {
        for object in try Self.find(objects, context) {
          for other in try Self.find(others, context) {
            if property.isOrdered {
              object.mutableOrderedSetValue(forKey: property.rawValue).add(other)
            } else if property.isToMany {
              object.mutableSetValue(forKey: property.rawValue).add(other)
            } else {
              object.setValue(other, forKey: property.rawValue)
            }
          }
        }
        // A line may be too long.
        do { try context.save() } catch { context.rollback() }
        context.reset()
      }
    }
  }

  private mutating func update(_ objectsPerSave: Int) throws {
    let (serials, amount, parent) = (some(), chance(3), chance(2) * chance(self.serials + 2))
    let context = batches.contexts[0]
    let count = try context.performAndWait {
      let request = NSBatchUpdateRequest(entityName: "Node")
      request.predicate = NSPredicate(format: "serial IN %@", serials)
      let parent = try Self.find([parent], context).first
      request.propertiesToUpdate = ["number": NSExpression(format: "number + \(amount)"), "parent": parent ?? NSNull()]
      request.resultType = .updatedObjectsCountResultType
      request.objectsPerSave = objectsPerSave
      return (try context.execute(request) as? NSBatchUpdateResult)?.result as? Int
    }
    let other = contexts.contexts[0]
    try other.performAndWait {
      let objects = try Self.find(serials, other)
      guard objects.count == count else { throw GraphMismatch("\(count ?? -1) objects were updated") }
      let parent = try Self.find([parent], other).first
      for object in objects {
        let number = object.value(forKey: "number") as? Int ?? 0
        object.setValue(number + amount, forKey: "number")
        object.setValue(parent, forKey: "parent")
      }
      try other.save()
      other.reset()
    }
  }

  private mutating func delete() throws {
    let (serials, byIDs) = (some(), chance(2) == 0)
    let context = batches.contexts[0]
    let failure = try context.performAndWait {
      let fetch = NSFetchRequest<NSManagedObject>(entityName: "Node")
      fetch.predicate = NSPredicate(format: "serial IN %@", serials)
      let ids = try Self.find(serials, context).map(\.objectID).filter { $0.entity.name == "Node" }
      let request = byIDs ? NSBatchDeleteRequest(objectIDs: ids) : NSBatchDeleteRequest(fetchRequest: fetch)
      return code { try context.execute(request) }
    }
    let other = contexts.contexts[0]
    try other.performAndWait {
      for object in try Self.find(serials, other) where !byIDs || object.entity.name == "Node" { other.delete(object) }
      var expected: Int?
      do {
        try other.save()
      } catch {
        expected = NSValidationRelationshipDeniedDeleteError
      }
      guard failure == expected else {
        throw GraphMismatch("deleting \(serials) gives \(failure ?? 0), not \(expected ?? 0)")
      }
      other.reset()
    }
  }

  // MARK: Contents

  private static func find(_ serials: [Int], _ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
    request.predicate = NSPredicate(format: "serial IN %@", serials)
    request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: true)]
    return try context.fetch(request)
  }

  private func compare() throws {
    batches.contexts[0].performAndWait { batches.contexts[0].reset() }
    let graph = try batches.saved()
    guard graph.faults.isEmpty else { throw GraphMismatch(graph.faults.joined(separator: "; ")) }
    let expected = try contexts.saved()
    guard Self.sorted(graph) == Self.sorted(expected) else {
      throw GraphMismatch("\(Self.sorted(graph)) instead of \(Self.sorted(expected))")
    }
    let numbers = try Self.numbers(batches.contexts[0])
    guard numbers == (try Self.numbers(contexts.contexts[0])) else { throw GraphMismatch("the numbers are \(numbers)") }
  }

  /// The graph with links in ascending order, except in ordered relationships.
  private static func sorted(_ graph: Graph) -> Graph {
    graph.mapValues { row in
      var row = row
      for (property, value) in row.values {
        if case .links(let links) = value { row.values[property] = .links(links, of: property) }
      }
      return row
    }
  }

  private static func numbers(_ context: NSManagedObjectContext) throws -> [[Int?]] {
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
      request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: true)]
      defer { context.reset() }
      return try context.fetch(request).map { object in
        ["serial", "number"].map { object.value(forKey: $0) as? Int }
      }
    }
  }
}

import CairnSimulation
import CoreData
import Foundation
import IncrementalStore
import Testing

/// Holds fetches that entries answer equal to the evaluation of all rows, on random models, objects, pending changes and
/// requests.
///
/// `OPENCOREDATA_SEED` replays a failure, and `OPENCOREDATA_PROGRAMS` sets the number of programs.
@Suite("Fetches with and without entries", .anyStore)
struct PlannedFetchTests {
  private static let environment = ProcessInfo.processInfo.environment

  @Test("A fetch finds the same results in the same order, whether entries answer it or all rows are read.")
  func random() throws {
    let seed = Self.environment["OPENCOREDATA_SEED"].flatMap { UInt64($0) } ?? .random(in: .min ... .max)
    let programs = Self.environment["OPENCOREDATA_PROGRAMS"].flatMap { Int($0) } ?? 8
    print("OPENCOREDATA_SEED=\(seed)")
    for number in 0..<programs {
      var program = try PlannedProgram(SplitMix64(seed: seed &+ UInt64(number)))
      try program.run("OPENCOREDATA_SEED=\(seed &+ UInt64(number)) OPENCOREDATA_PROGRAMS=1")
    }
  }
}

/// Changes random objects, saves some of the changes, and fetches in between.
private struct PlannedProgram {
  private var random: SplitMix64
  private let model: PlannedModel
  private let stack: Stack<RecordingStore>
  private var objects: [NSManagedObject] = []

  init(_ random: SplitMix64) throws {
    var random = random
    model = PlannedModel(&random)
    self.random = random
    stack = try Stack(model.model, Backing(), options: [BuildsIndexesFirstOption: NSNumber(value: true)])
  }

  mutating func run(_ place: String) throws {
    let context = stack.context()
    try context.performAndWait {
      for _ in 0..<12 {
        for _ in 0..<Int.random(in: 0..<12, using: &random) { change(context) }
        if Int.random(in: 0..<4, using: &random) > 0 { save(context) }
        for _ in 0..<12 { try compare(context, place) }
      }
    }
  }

  // MARK: Changes

  private mutating func change(_ context: NSManagedObjectContext) {
    let present = objects.filter { !$0.isDeleted && $0.managedObjectContext != nil }
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<4: objects.append(filled(context.make(model.concrete.randomElement(using: &random)!.name!)))
    case 4..<9: if let object = present.randomElement(using: &random) { set(object) }
    default: if let object = present.randomElement(using: &random) { context.delete(object) }
    }
  }

  private mutating func filled(_ object: NSManagedObject) -> NSManagedObject {
    for _ in 0..<6 { set(object) }
    return object
  }

  private mutating func set(_ object: NSManagedObject) {
    let key = object.entity.propertiesByName.keys.sorted().randomElement(using: &random)!
    switch object.entity.propertiesByName[key] {
    case let attribute as NSAttributeDescription:
      object[key] = Int.random(in: 0..<5, using: &random) == 0 ? nil : PlannedModel.value(of: attribute, &random)
    case let relationship as NSRelationshipDescription:
      let others = objects.filter {
        !$0.isDeleted && $0.managedObjectContext != nil && $0.entity.isKindOf(entity: relationship.destinationEntity!)
      }
      let some = (0..<Int.random(in: 0..<4, using: &random)).compactMap { _ in others.randomElement(using: &random) }
      if !relationship.isToMany {
        object[key] = some.first
      } else {
        object[key] = relationship.isOrdered ? NSOrderedSet(array: some) : NSSet(array: some)
      }
    default: break
    }
  }

  /// A save fails if values are not unique.
  private func save(_ context: NSManagedObjectContext) {
    do { try context.save() } catch { context.rollback() }
  }

  // MARK: Requests

  private mutating func compare(_ context: NSManagedObjectContext, _ place: String) throws {
    let entity = model.model.entities.sorted { $0.name! < $1.name! }.randomElement(using: &random)!
    let request = NSFetchRequest<NSManagedObject>(entityName: entity.name!)
    var predicate = predicate(entity, depth: 2)
    if let condition = model.indexCondition(of: entity, &random), Bool.random(using: &random) {
      predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [condition, predicate])
    }
    request.includesSubentities = Int.random(in: 0..<4, using: &random) > 0
    request.includesPendingChanges = Bool.random(using: &random)
    request.includesPropertyValues = Bool.random(using: &random)
    if Bool.random(using: &random) { request.sortDescriptors = order(entity) }
    if Int.random(in: 0..<3, using: &random) == 0 { request.fetchLimit = Int.random(in: 1..<8, using: &random) }
    if Int.random(in: 0..<3, using: &random) == 0 { request.fetchOffset = Int.random(in: 0..<6, using: &random) }
    // The planner looks into no negation, so that all rows are read.
    let hidden = NSCompoundPredicate(
      notPredicateWithSubpredicate: NSCompoundPredicate(notPredicateWithSubpredicate: predicate))
    func both<Result>(_ body: () throws -> Result) throws -> (Result, Result) {
      request.predicate = hidden
      let expected = try body()
      request.predicate = predicate
      return (expected, try body())
    }
    let what: Comment = "\(place)\n\(entity.name!): \(predicate) \(request)"
    let (expected, found) = try both { try context.fetch(request).map(\.objectID) }
    #expect(expected == found, what)
    let counts = try both { try context.count(for: request) }
    #expect(counts.0 == found.count && counts.1 == found.count, what)
    request.resultType = .managedObjectIDResultType
    request.entity = stack.store.entity(entity.name!)
    let identifiers = try both { try stack.store.execute(request, with: context) as? [NSManagedObjectID] }
    #expect(identifiers.0 == identifiers.1, what)
    try compareGroups(request, entity, what, context, both)
    try compareWithMemory(request, predicate, what, context)
  }

  /// Compares the numbers of saved objects with the same values of some properties.
  private mutating func compareGroups(
    _ request: NSFetchRequest<NSManagedObject>, _ entity: NSEntityDescription, _ what: Comment,
    _ context: NSManagedObjectContext,
    _ both: (() throws -> [NSDictionary]) throws -> ([NSDictionary], [NSDictionary])
  ) throws {
    let properties = entity.propertiesByName.values.filter { ($0 as? NSRelationshipDescription)?.isToMany != true }
    let names = properties.map(\.name).sorted().shuffled(using: &random)
    let keys = Array(names.prefix(Int.random(in: 1..<3, using: &random)))
    guard !keys.isEmpty else { return }
    let count = NSExpressionDescription()
    let counted = Bool.random(using: &random) ? keys[0] : "objectID"
    (count.name, count.expressionResultType) = ("count", .integer64AttributeType)
    count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: counted)])
    let grouped = NSFetchRequest<NSManagedObject>(entityName: entity.name!)
    grouped.entity = request.entity
    grouped.includesSubentities = request.includesSubentities
    grouped.resultType = .dictionaryResultType
    (grouped.propertiesToGroupBy, grouped.propertiesToFetch) = (keys, keys + [count])
    if entity.attributesByName[keys[0]] != nil, Bool.random(using: &random) {
      grouped.sortDescriptors = [NSSortDescriptor(key: keys[0], ascending: false)]
    }
    let store = stack.store
    let (expected, found) = try both {
      grouped.predicate = request.predicate
      return try store.execute(grouped, with: context) as? [NSDictionary] ?? []
    }
    #expect(expected == found, "\(what)\ngroups by \(keys), counting \(counted)")
  }

  /// Compares a fetch of saved objects with the evaluation of the predicate on the objects themselves.
  private func compareWithMemory(
    _ request: NSFetchRequest<NSManagedObject>, _ predicate: NSPredicate, _ what: Comment,
    _ context: NSManagedObjectContext
  ) throws {
    // In memory, an object that refers to a deleted one cannot be evaluated.
    guard !context.hasChanges, !model.mayDangle, !refersToDeleted() else { return }
    (request.resultType, request.sortDescriptors) = (.managedObjectResultType, nil)
    (request.fetchLimit, request.fetchOffset, request.predicate) = (0, 0, nil)
    let expected = try context.fetch(request).filter { predicate.evaluate(with: $0) }
    request.predicate = predicate
    let found = try context.fetch(request)
    #expect(found == expected, what)
  }

  /// Whether an object refers to a deleted one, which is possible without an inverse.
  private func refersToDeleted() -> Bool {
    objects.contains { object in
      guard object.managedObjectContext != nil else { return false }
      return object.entity.relationshipsByName.contains { name, relationship in
        guard !relationship.isToMany, relationship.inverseRelationship == nil,
          let other = object.value(forKey: name) as? NSManagedObject
        else { return false }
        return other.managedObjectContext == nil || !objects.contains(other)
      }
    }
  }

  private mutating func order(_ entity: NSEntityDescription) -> [NSSortDescriptor] {
    let keys = entity.attributesByName.keys.sorted()
    return (0..<Int.random(in: 1..<3, using: &random)).compactMap { _ in
      keys.randomElement(using: &random).map { NSSortDescriptor(key: $0, ascending: Bool.random(using: &random)) }
    }
  }

  // MARK: Predicates

  private mutating func predicate(_ entity: NSEntityDescription, depth: Int) -> NSPredicate {
    guard depth > 0, Bool.random(using: &random) else { return comparison(entity, depth: 2) }
    let parts = (0..<Int.random(in: 1..<4, using: &random)).map { _ in predicate(entity, depth: depth - 1) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0..<4: return NSCompoundPredicate(andPredicateWithSubpredicates: parts)
    case 4..<7: return NSCompoundPredicate(orPredicateWithSubpredicates: parts)
    default: return NSCompoundPredicate(notPredicateWithSubpredicate: parts[0])
    }
  }

  private mutating func comparison(_ entity: NSEntityDescription, depth: Int) -> NSPredicate {
    if Int.random(in: 0..<8, using: &random) == 0 { return identity() }
    if Int.random(in: 0..<3, using: &random) == 0, let constraint = model.constraint(of: entity, &random) {
      let parts = constraint.map { comparison("", entity.attributesByName[$0]!, isOfMembers: false) }
      return NSCompoundPredicate(andPredicateWithSubpredicates: parts)
    }
    var (entity, path, isOfMembers) = (entity, "", false)
    for step in 0..<depth {
      guard let key = entity.propertiesByName.keys.sorted().randomElement(using: &random) else { break }
      guard let relationship = entity.relationshipsByName[key] else {
        return comparison(path, entity.attributesByName[key]!, isOfMembers: isOfMembers)
      }
      if step == depth - 1 || Bool.random(using: &random) || relationship.isToMany && isOfMembers {
        return comparison(path, relationship, isOfMembers: isOfMembers)
      }
      path += key + "."
      isOfMembers = isOfMembers || relationship.isToMany
      entity = relationship.destinationEntity!
    }
    return NSPredicate(value: true)
  }

  private mutating func identity() -> NSPredicate {
    let format = ["SELF == %@", "objectID == %@", "SELF > %@", "SELF >= %@", "SELF IN %@", "self IN %@"]
      .randomElement(using: &random)!
    return Self.made(format, format.contains("IN") ? several { $0.object() } : object())
  }

  private mutating func comparison(
    _ path: String, _ attribute: NSAttributeDescription, isOfMembers: Bool
  ) -> NSPredicate {
    let formats =
      attribute.attributeType == .stringAttributeType
      ? ["== %@", "== %@", "!= %@", "IN %@", "BEGINSWITH %@", "==[c] %@", "CONTAINS %@", "< %@", ">= %@"]
      : ["== %@", "== %@", "!= %@", "IN %@", "< %@", "<= %@", "> %@", ">= %@", "BETWEEN %@"]
    let format = formats.randomElement(using: &random)!
    let model = model
    func constant(_ program: inout PlannedProgram) -> Any {
      Int.random(in: 0..<12, using: &program.random) == 0 ? NSNull() : model.constant(for: attribute, &program.random)
    }
    let argument: Any =
      format == "BETWEEN %@"
      ? [constant(&self), constant(&self)] : format.contains("IN %@") ? several(constant) : constant(&self)
    let canBeSwapped = ["== %@", "< %@", "<= %@", "> %@", ">= %@"].contains(format)
    let isSwapped = canBeSwapped && !isOfMembers && Bool.random(using: &random)
    let key = path + attribute.name
    if isSwapped { return Self.made("%@ \(format.dropLast(3)) \(key)", argument) }
    return Self.made((isOfMembers ? "ANY " : "") + "\(key) \(format)", argument)
  }

  private mutating func comparison(
    _ path: String, _ relationship: NSRelationshipDescription, isOfMembers: Bool
  ) -> NSPredicate {
    let key = path + relationship.name
    if path.isEmpty, relationship.isToMany, Int.random(in: 0..<3, using: &random) == 0 { return members(relationship) }
    if relationship.isToMany || isOfMembers {
      var formats = ["ANY \(key) == %@", "ANY \(key) IN %@", "ANY \(key).objectID == %@"]
      if relationship.isToMany, !isOfMembers { formats += ["\(key) CONTAINS %@", "%@ IN \(key)"] }
      let format = formats.randomElement(using: &random)!
      return Self.made(format, format.hasPrefix("ANY \(key) IN") ? several { $0.object() } : object())
    }
    let format = ["== %@", "== %@", "!= %@", "IN %@", ".objectID == %@", "== nil"].randomElement(using: &random)!
    if format == "== nil" { return NSPredicate(format: "\(key) == nil") }
    return Self.made(
      "\(key) \(format)".replacing(" .", with: "."), format == "IN %@" ? several { $0.object() } : object())
  }

  /// A comparison of the number of members that satisfy a predicate of their own.
  private mutating func members(_ relationship: NSRelationshipDescription) -> NSPredicate {
    let attributes = relationship.destinationEntity!.attributesByName.sorted { $0.key < $1.key }.map(\.value)
    let attribute = attributes.randomElement(using: &random)!
    let (value, object) = (model.constant(for: attribute, &random), object())
    let inner = ["$m.\(attribute.name) == %@", "$m.\(attribute.name) != %@", "$m.\(attribute.name) == %@ OR $m == %@"]
      .randomElement(using: &random)!
    let count = ["> 0", ">= 1", "!= 0", "== 0", "> 1"].randomElement(using: &random)!
    return NSPredicate(
      format: "SUBQUERY(\(relationship.name), $m, \(inner)).@count \(count)",
      argumentArray: inner.contains("OR") ? [value, object] : [value])
  }

  private static func made(_ format: String, _ argument: Any) -> NSPredicate {
    NSPredicate(format: format, argumentArray: [argument])
  }

  private mutating func several(_ one: (inout PlannedProgram) -> Any) -> Any {
    let some = (0..<Int.random(in: 0..<4, using: &random)).map { _ in one(&self) }
    // Foundation cannot hash decimal numbers.
    return Bool.random(using: &random) || some.contains { $0 is NSDecimalNumber } ? some as Any : NSSet(array: some)
  }

  /// An object or its identifier, whatever its entity, even if it is not saved or is deleted.
  private mutating func object() -> Any {
    guard let object = objects.randomElement(using: &random) else { return NSNull() }
    return Bool.random(using: &random) || object.managedObjectContext == nil ? object.objectID : object
  }
}

import OpenCoreData

/// A random program on the contexts of one store. After each save it checks what is stored.
struct AgreementProgram {
  private let stores: AgreementStores
  private let isTraced: Bool
  private var random: SeededGenerator
  /// The objects that the program holds, by context.
  private var held: [[NSManagedObject]]
  private var serials = 0

  static func run(seed: UInt64, _ kind: AgreementStores.Kind, isTraced: Bool) throws {
    var program = AgreementProgram(
      stores: try AgreementStores(kind), isTraced: isTraced, random: SeededGenerator(seed: seed), held: [[], [], []])
    if isTraced { print("OPENCOREDATA_SEED=\(seed)") }
    for step in 0..<100 {
      do { try program.step() } catch { throw GraphMismatch("step \(step): \(error)") }
    }
  }

  private init(stores: AgreementStores, isTraced: Bool, random: SeededGenerator, held: [[NSManagedObject]]) {
    (self.stores, self.isTraced, self.random, self.held) = (stores, isTraced, random, held)
  }

  private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[chance(elements.count)]
  }

  private func trace(_ c: Int, _ text: @autoclosure () -> String) {
    if isTraced { print("  \(["a", "b", "c"][c]) \(text())") }
  }

  // MARK: Steps

  private mutating func step() throws {
    let c = chance(stores.contexts.count)
    let context = stores.contexts[c]
    try context.performAndWait {
      try step(c, context)
      // A rule that deletes related objects is applied now: no later step may refer to these.
      context.processPendingChanges()
    }
  }

  private mutating func step(_ c: Int, _ context: NSManagedObjectContext) throws {
    let live = held[c].filter { $0.managedObjectContext === context && !$0.isDeleted }
    guard let object = pick(live), let other = pick(live) else {
      insert(c, context)
      try fetch(c, context)
      return
    }
    switch chance(100) {
    case 0..<10: insert(c, context)
    case 10..<15:
      trace(c, "sets the number of \(name(object))")
      object.setValue(chance(4), forKey: "number")
    case 15..<30: relate(c, object, other, GraphProperty.relationships.filter { !$0.isToMany })
    case 30..<45: relate(c, object, other, GraphProperty.toMany)
    case 45..<51: leave(c, object, other)
    case 51..<58:
      trace(c, "deletes \(name(object))")
      context.delete(object)
    case 58..<63: read(c, object)
    case 63..<66: try look(c, object, other)
    case 66..<74: try fetch(c, context)
    case 74..<78:
      trace(c, "merges")
      stores.merge(into: context)
    case 78..<80:
      trace(c, "refreshes \(name(object))")
      context.refresh(object, mergeChanges: chance(2) == 0)
    case 80:
      trace(c, "refreshes all")
      context.refreshAllObjects()
    case 81:
      trace(c, "is reset")
      held[c] = []
      context.reset()
    case 82:
      trace(c, "is rolled back")
      context.rollback()
    case 83..<85:
      trace(c, "forgets objects")
      held[c] = held[c].filter { _ in chance(3) > 0 }
    default: try save(c, context)
    }
  }

  private mutating func insert(_ c: Int, _ context: NSManagedObjectContext) {
    serials += 1
    trace(c, "inserts \(serials)")
    let object = NSEntityDescription.insertNewObject(forEntityName: chance(4) == 0 ? "Leaf" : "Node", into: context)
    object.setValue(serials, forKey: "serial")
    held[c].append(object)
  }

  private mutating func relate(_ c: Int, _ object: NSManagedObject, _ other: NSManagedObject, _ choice: [GraphProperty])
  {
    guard let property = pick(choice) else { return }
    trace(c, "relates \(name(object)).\(property) to \(name(other))")
    let key = property.rawValue
    if !property.isToMany {
      object.setValue(chance(5) == 0 ? nil : other, forKey: key)
    } else if property.isOrdered {
      object.mutableOrderedSetValue(forKey: key).insert(other, at: 0)
    } else {
      object.mutableSetValue(forKey: key).add(other)
    }
  }

  private mutating func leave(_ c: Int, _ object: NSManagedObject, _ other: NSManagedObject) {
    guard let property = pick(GraphProperty.toMany) else { return }
    let key = property.rawValue
    trace(c, "removes \(name(other)) from \(name(object)).\(property)")
    if property.isOrdered {
      object.mutableOrderedSetValue(forKey: key).remove(other)
    } else {
      object.mutableSetValue(forKey: key).remove(other)
    }
  }

  private mutating func read(_ c: Int, _ object: NSManagedObject) {
    guard let property = pick(GraphProperty.allCases) else { return }
    trace(c, "reads \(name(object)).\(property)")
    let value = object.value(forKey: property.rawValue)
    if let members = (value as? NSSet)?.allObjects ?? (value as? NSOrderedSet)?.array { _ = members.count }
  }

  /// Asks whether an object is a member, for which no members are made, and may compare the answer with the members.
  private mutating func look(_ c: Int, _ object: NSManagedObject, _ other: NSManagedObject) throws {
    guard let property = pick(GraphProperty.toMany) else { return }
    let members = object.mutableSetValue(forKey: property.rawValue)
    let isMember = members.contains(other)
    trace(c, "finds that \(name(object)).\(property) \(isMember ? "has" : "lacks") \(name(other))")
    if chance(2) == 0, members.allObjects.contains(where: { $0 as AnyObject === other }) != isMember {
      throw GraphMismatch("\(name(object)).\(property) has other members than it said of \(name(other))")
    }
  }

  private mutating func fetch(_ c: Int, _ context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Node")
    request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: true)]
    request.returnsObjectsAsFaults = chance(2) == 0
    let found = try context.fetch(request)
    trace(c, "fetches \(found.count)")
    let known = Set(held[c])
    held[c] += found.filter { !known.contains($0) }
  }

  private func name(_ object: NSManagedObject) -> String {
    (object.primitiveValue(forKey: "serial") as? Int64).map { "\($0)" }
      ?? object.objectID.uriRepresentation().lastPathComponent
  }

  // MARK: Saving

  private mutating func save(_ c: Int, _ context: NSManagedObjectContext) throws {
    let policy = pick([
      NSMergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ])!
    context.mergePolicy = policy
    do {
      try context.save()
      trace(c, "saves by \(policy.mergeType)")
    } catch {
      let error = error as NSError
      trace(c, "fails to save by \(policy.mergeType): \(error.code)")
      guard isExpected(error, policy.mergeType) else { throw GraphMismatch("a save by \(policy.mergeType): \(error)") }
      if chance(2) == 0 { context.rollback() } else { context.reset() }
    }
    let faults: [String]
    do { faults = try stores.saved().faults } catch { faults = ["\(error)"] }
    guard faults.isEmpty else {
      if isTraced { for object in held[c] { print("    \(object)") } }
      throw GraphMismatch("after a save by \(policy.mergeType), \(faults.joined(separator: "; "))")
    }
  }

  /// Whether a save may fail with an error: a conflict by the policy for errors, or a rule of the model.
  private func isExpected(_ error: NSError, _ policy: NSMergePolicyType) -> Bool {
    switch error.code {
    case NSManagedObjectMergeError: return policy == .errorMergePolicyType
    case NSValidationMultipleErrorsError:
      let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
      return details.allSatisfy { isExpected($0, policy) }
    case NSManagedObjectValidationError:
      let key = (error.userInfo[NSValidationKeyErrorKey] as? String).flatMap(GraphProperty.init)
      return key?.mayDangle == true
    case NSValidationRelationshipDeniedDeleteError, NSValidationRelationshipExceedsMaximumCountError: return true
    default: return false
    }
  }
}

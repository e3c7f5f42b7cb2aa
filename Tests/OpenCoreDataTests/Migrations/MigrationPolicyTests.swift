import OpenCoreData
import Testing

/// Migrations by subclasses of `NSEntityMigrationPolicy`.
@Suite("Migration policies")
struct MigrationPolicyTests {

  @Test(
    "A policy makes several objects from one, looks up what became of objects, and is called in the documented order.",
    arguments: [StoreKind.rows, .cairn])
  func stages(_ kind: StoreKind) throws {
    let registry = try Registry(kind)
    try registry.fill()
    let calls = Calls()
    try registry.migrate(by: .people(policy: SplittingPolicy.self)) { $0.userInfo = ["calls": calls] }
    #expect(
      try registry.people() == [
        "Person Ada - 36 Rex+Tom Bob Stone Ada Street", "Student Bob Stone - 7  Ada -",
        "Person Eve - 0   Eve Street",
      ])
    #expect(
      calls.names == [
        "begin", "create", "create", "endInstances", "relate", "relate", "endRelationships", "validate", "end",
      ])
    try registry.check()
  }

  @Test("Expressions call functions of their policy, whose name needs no module in the module of the caller.")
  func functions() throws {
    let registry = try Registry()
    try registry.fill()
    let mappings = NSMappingModel.people(age: "FUNCTION($entityPolicy, 'numberFrom:', $source.age)")
    for mapping in mappings.entityMappings where mapping.name != "pets" {
      mapping.entityMigrationPolicyClassName = String(reflecting: CalculatingPolicy.self)
    }
    mappings.entityMappings[1].entityMigrationPolicyClassName = "TopLevelPolicy"
    try registry.migrate(by: mappings)
    #expect(
      try registry.people() == [
        "Person Ada - 36 Rex+Tom Bob Stone -", "Student Bob Stone - 8  Ada -", "Person Eve - -1   -",
      ])
  }

  // MARK: Failures

  @Test("A migration fails with the error of its policy, of its validation or of a constraint, and changes nothing.")
  func failures() throws {
    let registry = try Registry()
    try registry.fill()
    func failure(_ mappings: NSMappingModel) throws -> NSError {
      let failure = try #require(error { try registry.migrate(by: mappings) })
      try registry.expectUnchanged()
      return failure
    }
    let policy = try failure(.people(policy: FailingPolicy.self))
    #expect(policy.code == 134170 && (policy.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 3)
    let invalid = try failure(.people(policy: ForgettingPolicy.self, age: "nil"))
    #expect(invalid.code == 134110 && (invalid.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 1570)
    let wrong = try failure(.people(policy: WrongPolicy.self))
    #expect(wrong.code == 134110 && wrong.localizedDescription.contains("which is no Pet of the destination"))
    let same = NSMappingModel.people()
    for mapping in same.entityMappings where mapping.name != "pets" {
      mapping.attributeMappings?.removeAll { $0.name == "first" }
      mapping.attributeMappings? += [NSPropertyMapping("first", "'same'"), NSPropertyMapping("last", "'same'")]
    }
    #expect(try failure(same).code == 134111)
  }

  @Test("A mapping model that does not fit the models is refused before anything happens.")
  func unfitting() throws {
    let registry = try Registry()
    try registry.fill()
    func text(_ change: (NSMappingModel) -> Void) throws -> String {
      let mappings = NSMappingModel.people()
      change(mappings)
      let failure = try #require(error { try registry.migrate(by: mappings) })
      #expect(failure.code == 134110)
      return failure.localizedDescription
    }
    func expect(_ words: String, sourceLocation: SourceLocation = #_sourceLocation, _ change: (NSEntityMapping) -> Void)
      throws
    {
      let text = try text { change($0.entityMappings[0]) }
      #expect(text.contains(words), "\(text)", sourceLocation: sourceLocation)
    }
    try expect("has no name of its own") { $0.name = "pets" }
    try expect("the entity Nobody, which the source model does not have") { $0.sourceEntityName = "Nobody" }
    try expect("the entity Nobody, which the destination model does not have") { $0.destinationEntityName = "Nobody" }
    try expect("has neither a source nor a destination") {
      ($0.sourceEntityName, $0.destinationEntityName) = (nil, nil)
    }
    try expect("is about another version of the entity Person") { $0.sourceEntityVersionHash = Data([1]) }
    try expect("maps the attribute shoes, which Person does not have") {
      $0.attributeMappings = [NSPropertyMapping("shoes", "1")]
    }
    try expect("maps the relationship age, which Person does not have") {
      $0.relationshipMappings = [NSPropertyMapping("age", "1")]
    }
    try expect("names the policy Missing, but the program has no such subclass") {
      $0.entityMigrationPolicyClassName = "Missing"
    }
    try expect("gives neither objects of the source nor a request") {
      $0.sourceExpression = NSExpression(format: "3")
    }
    try registry.expectUnchanged()
  }

  @Test("A migration fails if the old store is missing or of another model, or if something is at the new URL.")
  func stores() throws {
    let registry = try Registry()
    #expect(code { try registry.migrate(by: .people()) } == 134150)
    try registry.fill()
    let manager = NSMigrationManager(sourceModel: registry.second, destinationModel: registry.second)
    let failure = error {
      try manager.migrateStore(
        from: registry.source, type: registry.type, options: registry.options(), mapping: NSMappingModel(),
        to: registry.destination, type: registry.type, options: registry.options())
    }
    #expect(failure?.code == 134150 && (failure?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 134100)
    try Data([1]).write(to: registry.destination)
    #expect(code { try registry.migrate(by: .people()) } == 134160)
    #expect(try Data(contentsOf: registry.destination) == Data([1]))
    try FileManager.default.removeItem(at: registry.destination)
    try registry.expectUnchanged()
  }
}

final class TopLevelPolicy: NSEntityMigrationPolicy {
  override func callFunction(_ name: String, arguments: [Any?]) -> Any? {
    (Int(arguments[0] as? String ?? "") ?? 0) + 1
  }
}

/// What a policy has been called for.
final class Calls { var names: [String] = [] }

/// Splits names, and gives people with the same last name the same address.
final class SplittingPolicy: NSEntityMigrationPolicy {
  private func note(_ name: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
    #expect(manager.currentEntityMapping === mapping)
    (manager.userInfo?["calls"] as? Calls)?.names.append(name)
  }

  override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
    note("begin", mapping, manager)
    #expect(manager.sourceEntity(for: mapping)?.name == "Person")
  }

  override func createDestinationInstances(
    forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    note("create", mapping, manager)
    #expect(type(of: sInstance) == NSManagedObject.self)
    try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    let parts = (sInstance.value(forKey: "name") as? String ?? "").split(separator: " ").map(String.init)
    made.first?.setValue(parts.first, forKey: "first")
    made.first?.setValue(parts.dropFirst().first, forKey: "last")
    let address = NSEntityDescription.insertNewObject(forEntityName: "Address", into: manager.destinationContext)
    address.setValue("\(parts[0]) Street", forKey: "street")
    manager.associate(sourceInstance: sInstance, withDestinationInstance: address, for: mapping)
  }

  override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("endInstances", mapping, manager)
  }

  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    guard dInstance.entity.name == "Person" else { return }
    note("relate", mapping, manager)
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    let source = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
    #expect(source.count == 1)
    let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: source)
    dInstance.setValue(made.first { $0.entity.name == "Address" }, forKey: "address")
  }

  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("endRelationships", mapping, manager)
    let name = mapping.name ?? ""
    #expect(manager.destinationInstances(forEntityMappingName: name, sourceInstances: nil).count == 4)
    #expect(manager.sourceInstances(forEntityMappingName: name, destinationInstances: nil).count == 2)
  }

  override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("validate", mapping, manager)
  }

  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    note("end", mapping, manager)
  }
}

final class CalculatingPolicy: NSEntityMigrationPolicy {
  override func callFunction(_ name: String, arguments: [Any?]) -> Any? {
    name == "numberFrom:" ? Int(arguments[0] as? String ?? "") ?? -1 : super.callFunction(name, arguments: arguments)
  }
}

final class FailingPolicy: NSEntityMigrationPolicy {
  override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
    throw NSError(domain: "test", code: 3)
  }
}

/// Makes people without the age that they need.
final class ForgettingPolicy: NSEntityMigrationPolicy {
  override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) {
    Issue.record("The objects are invalid.")
  }
}

final class WrongPolicy: NSEntityMigrationPolicy {
  override func createRelationships(
    forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
  ) throws {
    let pet = NSPropertyMapping("pets", "$source.pets")
    mapping.relationshipMappings = [pet]
    try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
  }
}

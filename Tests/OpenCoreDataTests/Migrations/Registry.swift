import CairnIncrementalStore
import CairnInspection
import OpenCoreData
import Testing

/// A store with people and their pets in the first version of a model, which tests migrate to the second.
///
/// `@unchecked Sendable`: it does not change. The models are files in a folder, as Xcode keeps them. In the first version people have a `name`, an `age` as a
/// text, pets in their order, and friends; a student is a person with a `grade`. In the second version they have a
/// `first` and a `last` name and a number as `age`, which is required, and live at an `Address`.
final class Registry: @unchecked Sendable {
  let folder = FileManager.default.temporaryDirectory.appending(path: "mapping \(UUID().uuidString)")
  let kind: StoreKind
  let first: NSManagedObjectModel
  let second: NSManagedObjectModel

  init(_ kind: StoreKind = .cairn) throws {
    self.kind = kind
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Self.write(Self.firstModel, to: folder.appending(path: "People.xcdatamodeld/People.xcdatamodel/contents"))
    try Self.write(Self.secondModel, to: folder.appending(path: "People.xcdatamodeld/People 2.xcdatamodel/contents"))
    first = try NSManagedObjectModel(
      modelFileAt: folder.appending(path: "People.xcdatamodeld/People.xcdatamodel"))
    second = try NSManagedObjectModel(
      modelFileAt: folder.appending(path: "People.xcdatamodeld/People 2.xcdatamodel"))
    CairnIncrementalStore.register()
    NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
  }

  deinit {
    for url in [source, destination] { TestRowStore.forget(url) }
    try? FileManager.default.removeItem(at: folder)
  }

  var source: URL { folder.appending(path: "old store") }
  var destination: URL { folder.appending(path: "new store") }
  var type: NSPersistentStore.StoreType { kind == .cairn ? .cairn : .init(rawValue: TestRowStore.storeType) }

  static func write(_ text: String, to file: URL) throws {
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  private static let firstModel = """
    <model>
      <entity name="Person">
        <attribute name="name" attributeType="String"/>
        <attribute name="age" optional="YES" attributeType="String"/>
        <attribute name="photo" optional="YES" attributeType="Binary"/>
        <relationship name="pets" optional="YES" toMany="YES" ordered="YES" destinationEntity="Pet" inverseName="owner" inverseEntity="Pet"/>
        <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
      </entity>
      <entity name="Student" parentEntity="Person">
        <attribute name="grade" optional="YES" attributeType="Integer 16"/>
      </entity>
      <entity name="Pet">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Person" inverseName="pets" inverseEntity="Person"/>
      </entity>
    </model>
    """

  private static let secondModel = """
    <model>
      <entity name="Person">
        <attribute name="first" optional="YES" attributeType="String"/>
        <attribute name="last" optional="YES" attributeType="String"/>
        <attribute name="age" attributeType="Integer 16"/>
        <attribute name="photo" optional="YES" attributeType="Binary"/>
        <relationship name="pets" optional="YES" toMany="YES" ordered="YES" destinationEntity="Pet" inverseName="owner" inverseEntity="Pet"/>
        <relationship name="friends" optional="YES" toMany="YES" destinationEntity="Person" inverseName="friends" inverseEntity="Person"/>
        <relationship name="address" optional="YES" maxCount="1" destinationEntity="Address" inverseName="people" inverseEntity="Address"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="first"/><constraint value="last"/></uniquenessConstraint></uniquenessConstraints>
      </entity>
      <entity name="Student" parentEntity="Person">
        <attribute name="grade" optional="YES" attributeType="Integer 16"/>
      </entity>
      <entity name="Pet">
        <attribute name="name" optional="YES" attributeType="String"/>
        <relationship name="owner" optional="YES" maxCount="1" destinationEntity="Person" inverseName="pets" inverseEntity="Person"/>
      </entity>
      <entity name="Address">
        <attribute name="street" optional="YES" attributeType="String"/>
        <relationship name="people" optional="YES" toMany="YES" destinationEntity="Person" inverseName="address" inverseEntity="Person"/>
      </entity>
    </model>
    """

  // MARK: Stores

  func options(_ others: [AnyHashable: Any] = [:]) -> [AnyHashable: Any] {
    (kind == .cairn ? [CairnDurabilityOption: "buffered"] : [:]).merging(others) { $1 }
  }

  /// Runs `body` with a context of a store, and closes the store.
  @discardableResult
  func work<Result>(
    _ model: NSManagedObjectModel, at url: URL? = nil, _ others: [AnyHashable: Any] = [:],
    _ body: (NSManagedObjectContext) throws -> Result
  ) throws -> Result {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let store = try coordinator.addPersistentStore(type: type, at: url ?? source, options: options(others))
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait { try body(context) }
  }

  /// Saves Ada, 36, with the pets Rex and Tom; Bob Stone, 7, a student of grade 2 and Ada's friend; and Eve, without age.
  ///
  /// - Returns: The URI of Ada.
  @discardableResult
  func fill() throws -> URL {
    try work(first) { (context) throws in
      func make(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
      }
      let pets = ["Rex", "Tom"].map { make("Pet", ["name": $0]) }
      let ada = make(
        "Person", ["name": "Ada", "age": "36", "photo": Data([1, 2]), "pets": NSOrderedSet(array: pets)])
      _ = make("Student", ["name": "Bob Stone", "age": "7", "grade": 2, "friends": NSSet(object: ada)])
      _ = make("Person", ["name": "Eve"])
      context.persistentStoreCoordinator?.persistentStores[0].metadata["note"] = "kept"
      try context.save()
      return ada.objectID.uriRepresentation()
    }
  }

  /// Makes a manager for the two models, and migrates the store to a new one.
  func migrate(
    by mappings: NSMappingModel, _ prepare: (NSMigrationManager) throws -> Void = { _ in }
  ) throws {
    let manager = NSMigrationManager(sourceModel: first, destinationModel: second)
    try prepare(manager)
    try manager.migrateStore(
      from: source, type: type, options: options(), mapping: mappings, to: destination, type: type, options: options())
  }

  /// The people in a store of the second version, in the order of their first names, as texts.
  func people(at url: URL? = nil, _ options: [AnyHashable: Any] = [:]) throws -> [String] {
    try work(second, at: url ?? destination, options) { (context) throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "first", ascending: true)]
      return try context.fetch(request).map(Self.text)
    }
  }

  private static func text(_ person: NSManagedObject) -> String {
    func names(_ key: String, _ name: String) -> String {
      let value = person.value(forKey: key)
      let objects = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? []
      return objects.compactMap { ($0 as? NSManagedObject)?.value(forKey: name) as? String }.joined(separator: "+")
    }
    let address = person.value(forKey: "address") as? NSManagedObject
    let parts = [
      person.entity.name ?? "", person.value(forKey: "first") as? String ?? "-",
      person.value(forKey: "last") as? String ?? "-", "\(person.value(forKey: "age") ?? "-")",
      names("pets", "name"), names("friends", "first"), address?.value(forKey: "street") as? String ?? "-",
    ]
    return parts.joined(separator: " ")
  }

  /// Checks that the bytes of the new store agree with each other.
  func check(_ url: URL? = nil) throws {
    guard kind == .cairn else { return }
    #expect(try Verifier(at: (url ?? destination).path).run().findings.map { "\($0)" } == [])
  }

  /// Expects that there is no new store, and that the old one is as it was.
  func expectUnchanged(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.contains("xc") }
    #expect(names.sorted() == (kind == .cairn ? ["old store"] : []), sourceLocation: sourceLocation)
    let found = try work(first) { (context) throws in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      return try context.fetch(request).map { $0.value(forKey: "name") as? String }
    }
    #expect(found == ["Ada", "Bob Stone", "Eve"], sourceLocation: sourceLocation)
  }
}

extension NSEntityMapping {
  /// A mapping with expressions in the format language.
  convenience init(
    _ name: String, from source: String?, to destination: String?, _ attributes: [String: String] = [:],
    _ relationships: [String: String] = [:], policy: NSEntityMigrationPolicy.Type? = nil
  ) {
    self.init()
    self.name = name
    (sourceEntityName, destinationEntityName) = (source, destination)
    attributeMappings = attributes.map { NSPropertyMapping($0, $1) }
    relationshipMappings = relationships.map { NSPropertyMapping($0, $1) }
    entityMigrationPolicyClassName = policy.map { String(reflecting: $0) }
  }
}

extension NSPropertyMapping {
  convenience init(_ name: String, _ expression: String) {
    self.init()
    self.name = name
    valueExpression = NSExpression(format: expression)
  }
}

extension NSMappingModel {
  convenience init(_ mappings: NSEntityMapping...) {
    self.init()
    entityMappings = mappings
  }

  /// People and students with numbers as ages and pets; the age of those without is 0.
  static func people(
    policy: NSEntityMigrationPolicy.Type? = nil,
    age: String = "CAST(TERNARY($source.age = nil, '0', $source.age), 'NSNumber')"
  ) -> NSMappingModel {
    let attributes = ["first": "$source.name", "age": age, "photo": "$source.photo"]
    let relationships = [
      "pets": "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'pets', $source.pets)",
      "friends":
        "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'friends', $source.friends)",
    ]
    let pets = NSEntityMapping("pets", from: "Pet", to: "Pet", ["name": "$source.name"])
    return NSMappingModel(
      NSEntityMapping("people", from: "Person", to: "Person", attributes, relationships, policy: policy),
      NSEntityMapping(
        "students", from: "Student", to: "Student", attributes.merging(["grade": "$source.grade"]) { $1 }, relationships
      ),
      pets)
  }
}

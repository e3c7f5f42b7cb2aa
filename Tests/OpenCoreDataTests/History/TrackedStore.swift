import CairnIncrementalStore
import CairnInspection
import OpenCoreData
import Testing

/// Stores at one location, all of which record their history unless told otherwise.
///
/// An item has a `name`, a `code` that outlives it in the history, a `box`, whose inverse is `items`, and `tags`, whose
/// inverse is `tagged`.
final class TrackedStore {
  enum Kind: CaseIterable, Sendable {
    case rows, cairn
  }

  let kind: Kind
  let url = FileManager.default.temporaryDirectory.appending(path: "history \(UUID().uuidString)")
  private(set) var coordinators: [NSPersistentStoreCoordinator] = []

  init(_ kind: Kind) { self.kind = kind }

  deinit {
    for coordinator in coordinators { close(coordinator) }
    TestRowStore.forget(url)
    try? FileManager.default.removeItem(at: url)
  }

  /// A context of a new coordinator.
  ///
  /// - Parameter spelling: What is inserted before the last component of the location of a store on Cairn, which stays
  ///   the same.
  func open(
    history: Bool = true, _ options: [AnyHashable: Any] = [:], model: NSManagedObjectModel = makeModel(),
    spelling: String = ""
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    var options = options
    if history { options[NSPersistentHistoryTrackingKey] = true }
    switch kind {
    case .rows:
      NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
      _ = try coordinator.addPersistentStore(
        ofType: TestRowStore.storeType, configurationName: nil, at: url, options: options)
    case .cairn:
      CairnIncrementalStore.register()
      options[CairnDurabilityOption] = "buffered"
      let place = url.deletingLastPathComponent().appending(path: spelling + url.lastPathComponent)
      _ = try coordinator.addPersistentStore(type: .cairn, at: place, options: options)
    }
    coordinators.append(coordinator)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  func close(_ coordinator: NSPersistentStoreCoordinator?) {
    for store in coordinator?.persistentStores ?? [] { try? coordinator?.remove(store) }
  }

  static func makeModel() -> NSManagedObjectModel {
    func attribute(_ name: String) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, .stringAttributeType)
      return attribute
    }
    func relationship(
      _ name: String, _ entity: NSEntityDescription, isToMany: Bool, inverse: NSRelationshipDescription? = nil
    ) -> NSRelationshipDescription {
      let relationship = NSRelationshipDescription()
      (relationship.name, relationship.destinationEntity) = (name, entity)
      relationship.maxCount = isToMany ? 0 : 1
      relationship.inverseRelationship = inverse
      inverse?.inverseRelationship = relationship
      return relationship
    }
    let (item, box, tag) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (item.name, box.name, tag.name) = ("Item", "Box", "Tag")
    let code = attribute("code")
    code.preservesValueInHistoryOnDeletion = true
    let (home, tags) = (
      relationship("box", box, isToMany: false), relationship("tags", tag, isToMany: true)
    )
    item.properties = [attribute("name"), code, home, tags]
    box.properties = [attribute("name"), relationship("items", item, isToMany: true, inverse: home)]
    tag.properties = [attribute("name"), relationship("tagged", item, isToMany: true, inverse: tags)]
    let model = NSManagedObjectModel()
    model.entities = [item, box, tag]
    return model
  }

  /// Checks that the bytes on disk agree with each other.
  func check() throws {
    guard kind == .cairn else { return }
    #expect(try Verifier(at: url.path).run().findings.map { "\($0)" } == [])
  }
}

extension NSManagedObjectContext {
  /// Inserts an object, and saves it.
  @discardableResult
  func make(_ entity: String, _ values: [String: Any] = [:]) throws -> NSManagedObject {
    try performAndWait {
      let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
      for (key, value) in values { object.setValue(value, forKey: key) }
      try save()
      return object
    }
  }

  /// Sets values of an object, and saves it.
  func change(_ object: NSManagedObject, _ values: [String: Any]) throws {
    try performAndWait {
      for (key, value) in values { object.setValue(value, forKey: key) }
      try save()
    }
  }

  /// Deletes an object, and saves that.
  func remove(_ object: NSManagedObject) throws {
    try performAndWait {
      delete(object)
      try save()
    }
  }

  /// The object of this context that another context's object is.
  func mirror(of other: NSManagedObject) -> NSManagedObject { performAndWait { object(with: other.objectID) } }

  /// The result of a request for history.
  func history<Result>(
    _ request: NSPersistentHistoryChangeRequest, _ type: NSPersistentHistoryResultType? = nil
  ) throws -> Result {
    if let type { request.resultType = type }
    return try performAndWait {
      let result = try #require(try execute(request) as? NSPersistentHistoryResult)
      return try #require(result.result as? Result)
    }
  }

  /// All transactions.
  func transactions() throws -> [NSPersistentHistoryTransaction] {
    try history(.fetchHistory(after: .distantPast))
  }

  /// The place after the last transaction.
  var token: NSPersistentHistoryToken? {
    persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
  }

  /// The numbers of the transactions after a token.
  func numbers(after token: NSPersistentHistoryToken?) throws -> [Int64] {
    let found: [NSPersistentHistoryTransaction] = try history(.fetchHistory(after: token))
    return found.map(\.transactionNumber)
  }
}

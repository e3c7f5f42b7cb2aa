import CairnIncrementalStore
import CairnInspection
import CairnSimulation
import OpenCoreData
import Testing

/// Batch requests on stores that are migrated between them. `OPENCOREDATA_SEED` replays a failure, and
/// `OPENCOREDATA_PROGRAMS` sets the number of programs.
@Suite("Batch requests and migrations")
struct MigratedBatchTests {
  private static let environment = ProcessInfo.processInfo.environment

  @Test("Random batch requests find and change rows of all earlier models.", arguments: [StoreKind.rows, .cairn])
  func programs(_ kind: StoreKind) throws {
    NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
    CairnIncrementalStore.register()
    let seed = Self.environment["OPENCOREDATA_SEED"].flatMap { UInt64($0) } ?? .random(in: .min ... .max)
    print("OPENCOREDATA_SEED=\(seed)")
    for number in 0..<(Self.environment["OPENCOREDATA_PROGRAMS"].flatMap { Int($0) } ?? 5) {
      let own = seed &+ UInt64(number)
      var program = Program(kind, seed: own)
      defer { program.end() }
      do {
        for _ in 0..<12 { try program.step() }
      } catch {
        Issue.record(
          "OPENCOREDATA_SEED=\(own) OPENCOREDATA_PROGRAMS=1: \(error)\n\(program.log.joined(separator: "\n"))")
        return
      }
    }
  }

  private struct Difference: Error {
    let found: [String]
    let expected: [String]
  }

  private struct Attribute {
    let identity: Int
    var name: String
    var type: NSAttributeType
    var value: AnyHashable?
    var isOptional: Bool
    var renaming: String?
  }

  private struct Program {
    private let kind: StoreKind
    private let url = FileManager.default.temporaryDirectory.appending(path: "migrated batches \(UUID().uuidString)")
    private var random: SplitMix64
    private var attributes: [Attribute] = []
    /// The values by the identities of attributes, by the serial numbers of objects.
    private var objects: [Int: [Int: AnyHashable]] = [:]
    private var counter = 0
    private(set) var log: [String] = []

    init(_ kind: StoreKind, seed: UInt64) {
      self.kind = kind
      random = SplitMix64(seed: seed)
      for _ in 0..<2 { addAttribute() }
    }

    func end() {
      TestRowStore.forget(url)
      try? FileManager.default.removeItem(at: url)
    }

    mutating func step() throws {
      try work { program, context in
        for _ in 0..<3 { try program.request(context) }
        try program.compare(context)
      }
      if kind == .cairn {
        let findings = try Verifier(at: url.path).run().findings.map { "\($0)" }
        if !findings.isEmpty { throw Difference(found: findings, expected: []) }
      }
      for _ in 0..<Int.random(in: 1...2, using: &random) { change() }
    }

    private mutating func work(_ body: (inout Program, NSManagedObjectContext) throws -> Void) throws {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      var options: [AnyHashable: Any] = [
        NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
      ]
      if kind == .cairn { options[CairnDurabilityOption] = "buffered" }
      let store = try coordinator.addPersistentStore(
        ofType: kind == .cairn ? CairnIncrementalStore.storeType : TestRowStore.storeType, configurationName: nil,
        at: url, options: options)
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      try context.performAndWait { try body(&self, context) }
      try coordinator.remove(store)
    }

    private var model: NSManagedObjectModel {
      let serial = NSAttributeDescription()
      (serial.name, serial.attributeType) = ("serial", .integer64AttributeType)
      let entity = NSEntityDescription()
      entity.name = "Item"
      entity.properties =
        [serial]
        + attributes.map { described in
          let attribute = NSAttributeDescription()
          (attribute.name, attribute.attributeType, attribute.defaultValue) = (
            described.name, described.type, described.value?.base
          )
          (attribute.isOptional, attribute.renamingIdentifier) = (described.isOptional, described.renaming)
          return attribute
        }
      let model = NSManagedObjectModel()
      model.entities = [entity]
      return model
    }

    // MARK: Changes of the model

    private mutating func change() {
      switch Int.random(in: 0..<6, using: &random) {
      case 0, 1: addAttribute()
      case 2:
        guard attributes.count > 1, let place = attributes.indices.randomElement(using: &random) else { return }
        log.append("removes \(attributes[place].name)")
        attributes.remove(at: place)
      case 3:
        guard let place = attributes.indices.randomElement(using: &random) else { return }
        counter += 1
        attributes[place].renaming = attributes[place].renaming ?? attributes[place].name
        attributes[place].name = "n\(counter)"
        log.append("renames \(attributes[place].renaming ?? "") to \(attributes[place].name)")
      case 4: convert()
      default:
        guard let place = attributes.indices.randomElement(using: &random), attributes[place].isOptional else { return }
        log.append("requires \(attributes[place].name)")
        let value = attributes[place].value ?? value(of: attributes[place].type)
        (attributes[place].isOptional, attributes[place].value) = (false, value)
        for serial in objects.keys where objects[serial]?[attributes[place].identity] == nil {
          objects[serial]?[attributes[place].identity] = value
        }
      }
    }

    private mutating func addAttribute() {
      counter += 1
      let types: [NSAttributeType] = [.integer32AttributeType, .doubleAttributeType, .stringAttributeType]
      let type = types.randomElement(using: &random) ?? .integer32AttributeType
      let value = Bool.random(using: &random) ? value(of: type) : nil
      attributes.append(Attribute(identity: counter, name: "a\(counter)", type: type, value: value, isOptional: true))
      for serial in objects.keys { objects[serial]?[counter] = value }
      log.append("adds a\(counter), \(value.map { "\($0)" } ?? "nil")")
    }

    private mutating func convert() {
      guard
        let place = attributes.indices.filter({ attributes[$0].type != .stringAttributeType })
          .randomElement(using: &random)
      else { return }
      attributes[place].type = .stringAttributeType
      attributes[place].value = attributes[place].value.map { AnyHashable("\($0)") }
      for serial in objects.keys {
        let identity = attributes[place].identity
        let value = objects[serial]?[identity]
        objects[serial]?[identity] = value.map { AnyHashable("\($0)") }
      }
      log.append("makes a text of \(attributes[place].name)")
    }

    private mutating func value(of type: NSAttributeType) -> AnyHashable {
      let number = Int.random(in: 0..<4, using: &random)
      return switch type {
      case .doubleAttributeType: AnyHashable(Double(number) + 0.5)
      case .stringAttributeType: AnyHashable("\(number)")
      default: AnyHashable(number)
      }
    }

    // MARK: Requests

    private mutating func request(_ context: NSManagedObjectContext) throws {
      switch Int.random(in: 0..<4, using: &random) {
      case 0, 1: try insert(context)
      case 2: try update(context)
      default: try delete(context)
      }
    }

    private mutating func insert(_ context: NSManagedObjectContext) throws {
      let dictionaries = (0..<Int.random(in: 1...5, using: &random)).map { _ in
        counter += 1
        var values: [String: Any] = ["serial": counter]
        var expected: [Int: AnyHashable] = [:]
        for attribute in attributes {
          expected[attribute.identity] = attribute.value
          guard Bool.random(using: &random) else { continue }
          let value = value(of: attribute.type)
          (values[attribute.name], expected[attribute.identity]) = (value.base, value)
        }
        objects[counter] = expected
        return values
      }
      log.append("inserts \(dictionaries)")
      _ = try context.execute(NSBatchInsertRequest(entityName: "Item", objects: dictionaries))
    }

    private mutating func condition() -> (attribute: Attribute, value: AnyHashable, serials: [Int])? {
      guard let attribute = attributes.randomElement(using: &random) else { return nil }
      let value = value(of: attribute.type)
      return (attribute, value, objects.filter { $0.value[attribute.identity] == value }.map(\.key))
    }

    private func predicate(_ attribute: Attribute, _ value: AnyHashable) -> NSPredicate {
      NSComparisonPredicate(
        leftExpression: NSExpression(forKeyPath: attribute.name),
        rightExpression: NSExpression(forConstantValue: value.base), modifier: .direct, type: .equalTo)
    }

    private mutating func update(_ context: NSManagedObjectContext) throws {
      guard let (attribute, value, serials) = condition(), let changed = attributes.randomElement(using: &random) else {
        return
      }
      let isNil = changed.isOptional && Bool.random(using: &random)
      let new = isNil ? nil : self.value(of: changed.type)
      log.append("sets \(changed.name) to \(new.map { "\($0)" } ?? "nil") where \(attribute.name) is \(value)")
      let request = NSBatchUpdateRequest(entityName: "Item")
      request.predicate = predicate(attribute, value)
      request.propertiesToUpdate = [changed.name: NSExpression(forConstantValue: new?.base)]
      request.resultType = .updatedObjectsCountResultType
      let result = try context.execute(request) as? NSBatchUpdateResult
      try check(result?.result, serials.count)
      for serial in serials { objects[serial]?[changed.identity] = new }
    }

    private mutating func delete(_ context: NSManagedObjectContext) throws {
      guard let (attribute, value, serials) = condition() else { return }
      log.append("deletes where \(attribute.name) is \(value)")
      let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
      fetch.predicate = predicate(attribute, value)
      let request = NSBatchDeleteRequest(fetchRequest: fetch)
      request.resultType = .resultTypeCount
      try check((try context.execute(request) as? NSBatchDeleteResult)?.result, serials.count)
      for serial in serials { objects[serial] = nil }
    }

    private func check(_ found: Any?, _ expected: Int) throws {
      guard found as? Int == expected else {
        throw Difference(found: ["\(found ?? "nil") objects"], expected: ["\(expected) objects"])
      }
    }

    // MARK: Comparison

    private func compare(_ context: NSManagedObjectContext) throws {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: true)]
      func text(_ serial: Int, _ value: (Attribute) -> Any?) -> String {
        "\(serial): " + attributes.map { "\($0.name) \(value($0) ?? "nil")" }.joined(separator: ", ")
      }
      let found = try context.fetch(request).map { item in
        text(item.value(forKey: "serial") as? Int ?? -1) { item.value(forKey: $0.name) }
      }
      let expected = objects.sorted { $0.key < $1.key }.map { serial, values in
        text(serial) { values[$0.identity]?.base }
      }
      if found != expected { throw Difference(found: found, expected: expected) }
    }
  }
}

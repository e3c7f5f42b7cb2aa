#if PostgreSQL
  import CairnSimulation
  import CoreData
  import PostgreSQLIncrementalStore
  import Testing

  /// Holds fetches that the server searches equal to fetches of the same store that read all rows.
  ///
  /// `OPENCOREDATA_SEED` replays a failure, and `OPENCOREDATA_PROGRAMS` sets the number of programs.
  @Suite("Searches by the server and evaluation of all rows")
  struct SearchFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment

    @Test("The server finds the same objects in the same order as an evaluation of all rows.")
    func random() throws {
      let seed = Self.environment["OPENCOREDATA_SEED"].flatMap { UInt64($0) } ?? .random(in: .min ... .max)
      let programs = Self.environment["OPENCOREDATA_PROGRAMS"].flatMap { Int($0) } ?? 6
      print("OPENCOREDATA_SEED=\(seed)")
      NSPersistentStoreCoordinator.registerStoreClass(ScanningStore.self, type: ScanningStore.scanning)
      for number in 0..<programs {
        let own = seed &+ UInt64(number)
        var program = SearchProgram(SplitMix64(seed: own), "OPENCOREDATA_SEED=\(own) OPENCOREDATA_PROGRAMS=1")
        try program.run()
      }
    }
  }

  /// Saves random objects, and fetches them in two ways.
  private struct SearchProgram {
    private static let fetches = 250

    private var random: SplitMix64
    private let place: String
    private let model: SearchModel
    private let namespace = Namespace()

    init(_ random: SplitMix64, _ place: String) {
      var random = random
      model = SearchModel(&random)
      (self.random, self.place) = (random, place)
    }

    mutating func run() throws {
      defer { namespace.remove() }
      let searching = try context(.postgreSQL)
      let kept = try searching.performAndWait {
        try fill(searching)
        return searching
      }
      let scanning = try context(ScanningStore.scanning)
      var ids = kept.performAndWait { kept.registeredObjects.map(\.objectID.uri).sorted() }
      // Somebody may make an identifier of an object that does not exist, with the reference of another one.
      ids += ids.prefix(8).map { $0.replacing("/Group/", with: "/select/").replacing("/Pie%22ce/", with: "/Group/") }
      for _ in 0..<Self.fetches {
        let start = random
        var other = start
        let found = try answer(&random, kept, ids)
        let expected = try answer(&other, scanning, ids)
        #expect(found.results == expected.results, "\(place): \(found.request), \(found.report)")
      }
    }

    private func context(_ type: NSPersistentStore.StoreType) throws -> NSManagedObjectContext {
      PostgreSQLIncrementalStore.register()
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model.model)
      _ = try coordinator.addPersistentStore(type: type, at: namespace.url(Server.address))
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = coordinator
      return context
    }

    // MARK: Objects

    private mutating func fill(_ context: NSManagedObjectContext) throws {
      var objects: [NSManagedObject] = []
      for _ in 0..<Int.random(in: 20..<90, using: &random) {
        guard let name = model.concrete.randomElement(using: &random)?.name else { continue }
        objects.append(NSEntityDescription.insertNewObject(forEntityName: name, into: context))
      }
      for object in objects { set(object, objects) }
      try context.save()
      // Some rows change, so that their columns do.
      for object in objects where random.isTrue(oneIn: 4) { set(object, objects) }
      try context.save()
      for object in objects where random.isTrue(oneIn: 10) { context.delete(object) }
      try context.save()
    }

    private mutating func set(_ object: NSManagedObject, _ objects: [NSManagedObject]) {
      for name in object.entity.propertiesByName.keys.sorted() {
        switch object.entity.propertiesByName[name] {
        case let attribute as NSAttributeDescription:
          let value = random.isTrue(oneIn: 5) ? nil : SearchValues.value(attribute.attributeType, &random)
          object.setValue(value, forKey: name)
        case let relationship as NSRelationshipDescription:
          let others = objects.filter { other in
            relationship.destinationEntity.map { other.entity.isKindOf(entity: $0) } ?? false
          }
          let some = (0..<Int.random(in: 0..<3, using: &random)).compactMap { _ in others.randomElement(using: &random)
          }
          if relationship.isOrdered {
            object.setValue(NSOrderedSet(array: some), forKey: name)
          } else if relationship.isToMany {
            object.setValue(Set(some), forKey: name)
          } else {
            object.setValue(some.first, forKey: name)
          }
        default: break
        }
      }
    }

    // MARK: Fetches

    private func answer(
      _ random: inout SplitMix64, _ context: NSManagedObjectContext, _ uris: [String]
    ) throws -> (results: [String], request: String, report: String) {
      let coordinator = try #require(context.persistentStoreCoordinator)
      let ids = uris.compactMap { URL(string: $0) }.compactMap { coordinator.managedObjectID(forURIRepresentation: $0) }
      let entity = try #require(model.entities.randomElement(using: &random))
      let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
      var predicates = SearchPredicates(random: random, objects: ids)
      let current = try #require(coordinator.managedObjectModel.entitiesByName[entity.name ?? ""])
      request.predicate = predicates.predicate(current, depth: 2)
      random = predicates.random
      if random.isTrue(oneIn: 8) { request.predicate = nil }
      request.includesSubentities = !random.isTrue(oneIn: 4)
      if random.isTrue(oneIn: 5) { return groups(&random, request, current, context) }
      request.sortDescriptors = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
        var (owner, path) = (current, "")
        while random.isTrue(oneIn: 3),
          let relationship = owner.relationshipsByName.values.filter({ !$0.isToMany }).sorted(by: { $0.name < $1.name })
            .randomElement(using: &random), let destination = relationship.destinationEntity
        {
          (owner, path) = (destination, "\(path)\(relationship.name).")
        }
        let keys = owner.attributesByName.keys.filter { $0 != "link" }.sorted()
        let name = keys.randomElement(using: &random) ?? ""
        let key = path + name
        let isText = owner.attributesByName[name]?.attributeType == .stringAttributeType
        let selector = isText && random.isTrue(oneIn: 4) ? "caseInsensitiveCompare:" : "compare:"
        return NSSortDescriptor(key: key, ascending: random.isTrue, selector: NSSelectorFromString(selector))
      }
      if random.isTrue { request.fetchLimit = Int.random(in: 1..<12, using: &random) }
      if random.isTrue(oneIn: 3) { request.fetchOffset = Int.random(in: 0..<10, using: &random) }
      let isCount = random.isTrue(oneIn: 4)
      request.includesPropertyValues = random.isTrue
      let sorting = (request.sortDescriptors ?? []).map { "\($0.key ?? "") \($0.ascending)" }
      let text = """
        \(isCount ? "count of" : "") \(entity.name ?? "") where \(request.predicate.map { "\($0)" } ?? "all") by \(sorting) \
        from \(request.fetchOffset) to \(request.fetchLimit)
        """
      return try context.performAndWait {
        let store = coordinator.persistentStores[0] as? RowIncrementalStore
        let results: [String]
        do {
          results = isCount ? ["\(try context.count(for: request))"] : try context.fetch(request).map(\.objectID.uri)
        } catch {
          return (["\((error as NSError).code)"], text, "\(error)")
        }
        let report = try store?.report(of: request, in: context)
        return (results, text, report.map { "\($0)" } ?? "")
      }
    }
  }

  extension SearchProgram {
    /// The numbers of the rows that a request finds, grouped by one or two properties.
    private func groups(
      _ random: inout SplitMix64, _ found: NSFetchRequest<NSManagedObject>, _ entity: NSEntityDescription,
      _ context: NSManagedObjectContext
    ) -> (results: [String], request: String, report: String) {
      let request = NSFetchRequest<NSDictionary>(entityName: entity.name ?? "")
      (request.predicate, request.includesSubentities) = (found.predicate, found.includesSubentities)
      request.resultType = .dictionaryResultType
      let properties = entity.properties.filter { ($0 as? NSRelationshipDescription)?.isToMany != true }
      let names = Set(
        properties.map(\.name).filter { $0 != "link" }.sorted().shuffled(using: &random)
          .prefix(Int.random(in: 1...2, using: &random))
      ).sorted()
      let count = NSExpressionDescription()
      count.name = "rows"
      count.expression = NSExpression(
        forFunction: "count:",
        arguments: [random.isTrue ? NSExpression.expressionForEvaluatedObject() : NSExpression(forKeyPath: names[0])])
      request.propertiesToGroupBy = names
      request.propertiesToFetch = names + [count] as [Any]
      if random.isTrue { request.sortDescriptors = [NSSortDescriptor(key: names[0], ascending: random.isTrue)] }
      if random.isTrue(oneIn: 3) { request.fetchLimit = Int.random(in: 1..<5, using: &random) }
      let predicate = request.predicate.map { "\($0)" } ?? "all"
      let text = "groups of \(entity.name ?? "") where \(predicate) by \(names), limit \(request.fetchLimit)"
      return context.performAndWait {
        do {
          let results = try context.fetch(request).map { group in
            (names + ["rows"]).map { name in
              // Foundation ends the program if it is to describe a date in the far future.
              (group[name] as? Date).map { "\($0.timeIntervalSinceReferenceDate)" } ?? "\(group[name] ?? "nil")"
            }
            .joined(separator: " ")
          }
          return (results, text, "")
        } catch {
          return (["\((error as NSError).code)"], text, "\(error)")
        }
      }
    }
  }

  extension NSManagedObjectID {
    fileprivate var uri: String { uriRepresentation().absoluteString }
  }
#endif

import Cairn
import CairnIncrementalStore
import CairnInspection
import CoreData
@testable import IncrementalStore
import Testing

/// Indexes that a model declares over objects that are there already, and that it declares no longer.
@Suite struct DeclaredIndexTests {
  private let library = Library()
  private var url: URL { library.url }

  /// A model of items, which have a kind and a rank, and of special items.
  private struct Form {
    var indexes: [[String]] = []
    /// The predicate of all indexes.
    var condition: String?
    /// Whether special items inherit from items.
    var specialsAreItems = true

    var model: NSManagedObjectModel {
      let (item, special) = (NSEntityDescription(), NSEntityDescription())
      (item.name, special.name) = ("Item", "Special")
      item.properties = [
        Self.attribute("name", .stringAttributeType), Self.attribute("kind", .stringAttributeType),
        Self.attribute("rank", .integer64AttributeType), Self.attribute("weight", .floatAttributeType),
        Self.attribute("flag", .booleanAttributeType), Self.attribute("small", .integer16AttributeType),
        Self.attribute("data", .binaryDataAttributeType), Self.attribute("ratio", .doubleAttributeType),
        Self.attribute("price", .decimalAttributeType), Self.attribute("day", .dateAttributeType),
      ]
      if specialsAreItems {
        item.subentities = [special]
      } else {
        special.properties = [Self.attribute("kind", .stringAttributeType)]
      }
      item.indexes = indexes.map { names in
        let index = NSFetchIndexDescription(
          name: names.joined(),
          elements: names.map {
            NSFetchIndexElementDescription(property: item.propertiesByName[$0]!, collationType: .binary)
          })
        index.partialIndexPredicate = condition.map { NSPredicate(format: $0) }
        return index
      }
      let model = NSManagedObjectModel()
      model.entities = [item, special]
      return model
    }

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      return attribute
    }
  }

  private func open(
    _ form: Form, buildsFirst: Bool = true, ignoringVersions: Bool = false
  ) throws -> (CairnIncrementalStore, NSManagedObjectContext) {
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: form.model)
    let store = try coordinator.addPersistentStore(
      type: .cairn, at: url,
      options: [
        CairnDurabilityOption: "buffered", BuildsIndexesFirstOption: NSNumber(value: buildsFirst),
        NSIgnorePersistentStoreVersioningOption: NSNumber(value: ignoringVersions),
      ])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return (try #require(store as? CairnIncrementalStore), context)
  }

  private func work(
    _ form: Form, ignoringVersions: Bool = false, _ body: (CairnIncrementalStore, NSManagedObjectContext) throws -> Void
  ) throws {
    let (store, context) = try open(form, ignoringVersions: ignoringVersions)
    defer { try? store.persistentStoreCoordinator?.remove(store) }
    try context.performAndWait { try body(store, context) }
  }

  /// Items of three kinds in turn, each third of them special.
  private func fill(_ count: Int, _ context: NSManagedObjectContext) throws {
    for number in 0..<count {
      _ = context.insert(
        number % 3 == 2 ? "Special" : "Item",
        ["name": "n\(number)", "kind": "k\(number % 3)", "rank": number])
    }
    try context.save()
  }

  private func report(
    _ store: CairnIncrementalStore, _ context: NSManagedObjectContext, _ format: String,
    as type: NSFetchRequestResultType = .managedObjectResultType
  ) throws -> FetchReport {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.predicate = NSPredicate(format: format)
    request.resultType = type
    return try store.report(of: request, in: context)
  }

  /// Writes an index of items into the schema, as if a model declared it.
  private func declare(_ names: [String], _ state: Schema.Index.State = .building(from: nil), in rows: any RowStore)
    throws
  {
    _ = try rows.save { snapshot in
      let row = try #require(try snapshot.row(StoreHead.schemaReference, in: StoreHead.table))
      var schema = try Schema(row.bytes)
      let item = try #require(schema.entities.first { $0.name == "Item" })
      let properties = names.compactMap { name in item.properties.first { $0.name == name }?.number }
      var index = Schema.Index(number: schema.takeNumber(), entity: item.number, properties: properties)
      index.state = state
      schema.indexes.append(index)
      var changes = RowChanges()
      changes.rows = [try StoreHead.change(StoreHead.schemaReference, schema.bytes, snapshot)]
      return changes
    }
  }

  private func isWhole() throws -> Bool { try Verifier(at: url.path).run().findings.isEmpty }

  @Test("A partial index whose predicate puts data in an order is left out, because no fetch finds such objects.")
  func orderedData() throws {
    let format = "data < CAST('GBg=', 'NSData')"
    try work(Form(indexes: [["data"]], condition: format)) { store, context in
      for byte in 0..<3 as Range<UInt8> { _ = context.insert("Item", ["data": Data([16 * byte, 16])]) }
      try context.save()
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: format)
      #expect(try context.fetch(request).isEmpty)
      #expect(try context.count(for: request) == 0)
    }
  }

  @Test("An index that a model gets is built over the objects that are there, those of subentities included.")
  func building() throws {
    try work(Form()) { store, context in
      try fill(30, context)
      #expect(try report(store, context, "kind == 'k1'").path == nil)
    }
    try work(Form(indexes: [["kind"]])) { store, context in
      let found = try report(store, context, "kind == 'k2'")
      #expect(found.path == "the index on kind")
      #expect(found.results == 10 && found.rowsRead == 10 && found.entriesRead == 10)
      #expect(try report(store, context, "kind == 'k2'", as: .countResultType).rowsRead == 0)
    }
    #expect(try isWhole())
  }

  @Test("A partial index has the objects that satisfy its predicate, and is used by fetches that ask for no others.")
  func partial() throws {
    try work(Form()) { _, context in try fill(30, context) }
    let form = Form(indexes: [["rank"]], condition: "kind != 'k0' AND rank >= 6")
    try work(form) { store, context throws in
      let found = try report(store, context, "kind != 'k0' AND rank >= 6 AND rank < 12")
      #expect(found.path == "the partial index on rank" && found.results == 4 && found.entriesRead <= 5, "\(found)")
      let count = try report(store, context, "rank >= 6 AND kind != 'k0'", as: .countResultType)
      #expect(count.results == 16 && count.rowsRead == 0 && count.entriesRead == 16, "\(count)")
      let listed = try report(store, context, "kind IN {'k1', 'k2'} AND rank IN {6, 7, 8}", as: .countResultType)
      #expect(listed.path == "the partial index on rank, 3 ranges" && listed.results == 2, "\(listed)")
      for other in ["rank >= 6", "kind != 'k0' AND rank >= 5", "kind IN {'k0', 'k1'} AND rank IN {6, 7}"] {
        #expect(try report(store, context, other).path == nil, "\(other)")
      }
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.predicate = NSPredicate(format: "rank IN {8, 9}")
      for (item, kind) in zip(try context.fetch(request), ["k0", "k1"]) { item.setValue(kind, forKey: "kind") }
      try context.save()
      let changed = try report(store, context, "rank >= 6 AND kind != 'k0'", as: .countResultType)
      #expect(changed.results == 16 && changed.rowsRead == 0)
      try fill(12, context)
      #expect(try report(store, context, "rank >= 6 AND kind != 'k0'", as: .countResultType).results == 20)
    }
    #expect(try isWhole())
    let other = Form(indexes: [["rank"]], condition: "kind == 'k0'")
    try work(other) { store, context throws in
      #expect(try report(store, context, "rank >= 6 AND kind != 'k0'").path == nil)
      #expect(try report(store, context, "kind == 'k0'", as: .countResultType).rowsRead == 0)
    }
    #expect(try isWhole())
    // Not a comparison with a constant.
    try work(Form(indexes: [["rank"]], condition: "kind == name")) { store, context throws in
      #expect(try report(store, context, "kind == name").path == nil)
    }
  }

  @Test("A single-precision number is not counted as a double that it only comes close to.")
  func singlePrecision() throws {
    try work(Form(indexes: [["weight"]])) { store, context throws in
      for weight in [0.1, 0.25, 0.7] { _ = context.insert("Item", ["weight": Float(weight)]) }
      try context.save()
      for (format, count) in [
        ("weight == 0.1", 0), ("weight == 0.25", 1), ("weight IN {0.1, 0.25}", 1), ("weight >= 0.1", 3),
        ("weight > 0.7", 0), ("weight <= 0.1", 0), ("weight < 0.7", 3),
      ] {
        #expect(try report(store, context, format, as: .countResultType).results == count, "\(format)")
        #expect(try report(store, context, "NOT NOT (\(format))", as: .countResultType).results == count, "\(format)")
      }
    }
  }

  @Test("A constant that no value of an attribute can equal is not counted as one that it is converted to.")
  func impossibleConstants() throws {
    try work(Form(indexes: [["flag"], ["small"]])) { store, context throws in
      for number in 0..<4 { _ = context.insert("Item", ["flag": number % 2 == 0, "small": number]) }
      try context.save()
      for (format, count) in [
        ("flag == 2", 0), ("flag == 1", 2), ("flag == 0.5", 0), ("flag IN {1, 2}", 2), ("flag > 0", 2), ("flag < 2", 4),
        ("small == 65537", 0), ("small == 1.5", 0), ("small < 1.5", 2), ("small > 65537", 0), ("small < 65537", 4),
      ] {
        #expect(try report(store, context, format, as: .countResultType).results == count, "\(format)")
        #expect(try report(store, context, "NOT NOT (\(format))", as: .countResultType).results == count, "\(format)")
      }
    }
    try work(Form(indexes: [["rank"]], condition: "flag == 2")) { store, context throws in
      #expect(try report(store, context, "flag == 2", as: .countResultType).results == 0)
      #expect(try report(store, context, "flag == 1", as: .countResultType).results == 2)
    }
    #expect(try isWhole())
  }

  @Test("Objects in a range of numbers or dates are counted without their rows, nil and NaN left out.")
  func countedRanges() throws {
    let names = ["rank", "weight", "small", "ratio", "price", "day"]
    try work(Form(indexes: names.map { [$0] } + [["kind", "rank"]])) { store, context throws in
      for number in 0..<60 {
        let isMissing = number % 10 == 9
        let item = context.insert(number % 4 == 0 ? "Special" : "Item", ["kind": "k\(number % 2)"])
        guard !isMissing else { continue }
        let ratio = number % 10 == 8 ? Double.nan : Double(number) / 4
        item.setValue(number, forKey: "rank")
        item.setValue(Float(ratio), forKey: "weight")
        item.setValue(number, forKey: "small")
        item.setValue(ratio, forKey: "ratio")
        item.setValue(NSDecimalNumber(string: ratio.isNaN ? "NaN" : "\(ratio)"), forKey: "price")
        item.setValue(Date(timeIntervalSinceReferenceDate: ratio), forKey: "day")
      }
      try context.save()
      let day = "CAST(4, 'NSDate')"
      for format in names.flatMap({ name in
        let bound = name == "day" ? day : "4"
        let end = name == "day" ? "CAST(9, 'NSDate')" : "9"
        return [
          "\(name) > \(bound)", "\(name) >= \(bound)", "\(name) < \(bound)", "\(bound) >= \(name)",
          "\(name) > \(bound) AND \(name) < \(end)", "\(name) > \(bound) AND \(name) < \(bound)",
          "\(name) BETWEEN {\(bound), \(end)}", "\(name) BETWEEN {\(end), \(bound)}",
        ]
      }) + ["kind == 'k1' AND rank > 10", "kind IN {'k0', 'k1'} AND rank <= 10", "rank > -10", "rank > 9999999"] {
        let counted = try report(store, context, format, as: .countResultType)
        let tested = try report(store, context, "NOT NOT (\(format))", as: .countResultType)
        #expect(counted.results == tested.results, "\(format)")
        #expect(counted.rowsRead == 0, "\(format): \(counted)")
      }
      for format in [
        "rank > 5.5", "rank < 5.5", "rank > 5 AND rank > 7", "rank == 7 AND rank > 9", "rank == 9 AND rank > 7",
        "weight > 0.1", "price > 4.25", "price >= 4.25", "price < 4.25", "name > 'n'",
      ] {
        let counted = try report(store, context, format, as: .countResultType)
        let tested = try report(store, context, "NOT NOT (\(format))", as: .countResultType)
        #expect(counted.results == tested.results, "\(format)")
      }
    }
  }

  @Test("A number is not counted as another that only converts to the same number.")
  func closeNumbers() throws {
    try work(Form(indexes: [["ratio"], ["weight"], ["price"]])) { store, context throws in
      let prices = ["1.99999999999999999999", "2", "2.00000000000000000001"]
      for (number, price) in zip([0x1p53, 0x1p53 + 2, 0x1p53 + 4], prices) {
        let values: [String: Any] = [
          "ratio": number, "weight": Float(number), "price": NSDecimalNumber(string: price),
        ]
        _ = context.insert("Item", values)
      }
      try context.save()
      for (format, count) in [
        ("ratio == 9007199254740993", 0), ("ratio == 9007199254740994", 1), ("ratio > 9007199254740993", 2),
        ("ratio >= 9007199254740993", 2), ("ratio < 9007199254740993", 1), ("ratio <= 9007199254740995", 2),
        ("ratio IN {9007199254740992, 9007199254740993}", 1), ("weight == 9007199254740993", 0),
        ("weight > 9007199254740993", 0), ("weight < 9007199254740993", 3), ("price == 2", 1), ("price == 2.0", 3),
        ("price > 2.0", 0), ("price > 2", 1),
      ] {
        #expect(try report(store, context, "NOT NOT (\(format))", as: .countResultType).results == count, "\(format)")
        #expect(try report(store, context, format, as: .countResultType).results == count, "\(format)")
      }
    }
  }

  @Test("An index that no model declares any more loses its entries, and can be declared again.")
  func dropping() throws {
    try work(Form(indexes: [["kind"], ["rank", "kind"]])) { _, context in try fill(30, context) }
    try work(Form(indexes: [["rank", "kind"]])) { store, context in
      #expect(try report(store, context, "kind == 'k1'").path == nil)
      #expect(try report(store, context, "rank < 4").path == "the index on rank, kind")
      try fill(3, context)
    }
    #expect(try isWhole())
    try work(Form(indexes: [["kind"]])) { store, context throws in
      #expect(try report(store, context, "kind == 'k1'").results == 11)
      #expect(try report(store, context, "rank < 4").path == nil)
    }
    #expect(try isWhole())
  }

  @Test("An index is built anew if other entities inherit from its entity.")
  func hierarchy() throws {
    let index = [["kind"]]
    try work(Form(indexes: index, specialsAreItems: false)) { _, context in
      for kind in ["k1", "k2"] { _ = context.insert("Special", ["kind": kind]) }
      _ = context.insert("Item", ["kind": "k1"])
      try context.save()
    }
    try work(Form(indexes: index), ignoringVersions: true) { store, context in
      // Special items have kept their kind in a property of their own, which is not the one that they inherit.
      let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
      let found = try report(store, context, "kind == nil")
      #expect(all.count == 3 && found.path == "the index on kind")
      #expect(found.results == all.filter { $0.value(forKey: "kind") == nil }.count)
    }
    #expect(try isWhole())
  }

  @Test("An index is built in steps, between which objects are saved, and the work goes on where it was interrupted.")
  func steps() throws {
    let (store, context) = try open(Form())
    defer { try? store.persistentStoreCoordinator?.remove(store) }
    let rows = try #require(store.rowStore)
    try context.performAndWait { try fill(40, context) }
    try declare(["kind", "rank"], in: rows)
    try declare(["rank"], .dropping, in: rows)
    var steps = 0
    try context.performAndWait {
      repeat {
        steps += 1
        let all = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
        all[steps * 7 % all.count].setValue("k\(steps)", forKey: "kind")
        context.delete(all[steps * 11 % all.count])
        try fill(2, context)
        let (found, scanned) = (
          try report(store, context, "kind == 'k1'"), try report(store, context, "kind LIKE 'k1'")
        )
        #expect(scanned.path == nil && found.results == scanned.results)
        #expect(try isWhole())
      } while try IndexBuilder(step: 5, space: DiskSpace { nil }).advance(rows)
      #expect(steps > 5)
      #expect(try report(store, context, "kind == 'k1'").path == "the index on kind, rank")
      #expect(try report(store, context, "rank == 5").path == nil)
    }
  }

  @Test("Coordinators with models that declare other indexes keep all of them up.")
  func coordinators() throws {
    try work(Form(indexes: [["kind"]])) { _, context in try fill(9, context) }
    let (old, other) = try open(Form(indexes: [["kind"]]))
    defer { try? old.persistentStoreCoordinator?.remove(old) }
    try work(Form(indexes: [["kind"], ["rank"]])) { store, context in
      // The other coordinator has read the schema before it had the second index.
      try other.performAndWait { try fill(9, other) }
      let found = try report(store, context, "rank == 7")
      #expect(found.results == 2 && found.path == "the index on rank")
    }
    #expect(try isWhole())
  }

  @Test("Verifying finds objects that are not in an index, or in it with other values than those of their rows.")
  func verifying() throws {
    let (store, context) = try open(Form(indexes: [["rank"]]))
    defer { try? store.persistentStoreCoordinator?.remove(store) }
    try context.performAndWait { try fill(9, context) }
    _ = try store.rowStore?.save { snapshot in
      var entries: [[UInt8]] = []
      try snapshot.forEachEntry(from: [], before: nil, reverse: false) { entry in
        entries.append(entry)
        return true
      }
      var changes = RowChanges()
      var other = entries[4]
      other[9] ^= 1
      (changes.removedEntries, changes.addedEntries) = ([entries[4], entries[7]], [other])
      return changes
    }
    let findings = try Verifier(at: url.path).run().findings.map { "\($0)" }
    #expect(findings.count == 3)
    #expect(findings.count { $0.contains("with a key of another row") } == 1)
    #expect(findings.count { $0.contains("it is not in the index") } == 2)
  }

  @Test("Background building leaves the same index as building first.")
  func background() throws {
    try work(Form()) { _, context in try fill(30, context) }
    let (store, context) = try open(Form(indexes: [["kind"]]), buildsFirst: false)
    store.waitForIndexes()
    let found = try context.performAndWait { try report(store, context, "kind == 'k1'") }
    #expect(found.path == "the index on kind")
    try store.persistentStoreCoordinator?.remove(store)
    #expect(try isWhole())
  }
}

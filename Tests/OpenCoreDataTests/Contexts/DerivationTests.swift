import Foundation
import OpenCoreData
import Testing

/// Shops with orders, which have items; each derives values from the others.
@Suite struct DerivationTests {
  enum Kind: CaseIterable {
    case inMemory, rows
  }

  private final class Stack {
    let kind: Kind
    let url = URL(filePath: "/nowhere/\(UUID().uuidString)")
    let coordinator: NSPersistentStoreCoordinator

    init(_ kind: Kind) throws {
      self.kind = kind
      coordinator = try Self.coordinator(kind, url)
    }

    deinit { TestRowStore.forget(url) }

    static func coordinator(_ kind: Kind, _ url: URL) throws -> NSPersistentStoreCoordinator {
      NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, forStoreType: TestRowStore.storeType)
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: DerivationTests.model())
      let type = kind == .inMemory ? NSInMemoryStoreType : TestRowStore.storeType
      _ = try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
      return coordinator
    }

    /// A context; for rows, with a coordinator of its own, which learns nothing of what others save.
    func context() throws -> NSManagedObjectContext {
      let context = NSManagedObjectContext(.privateQueue)
      context.persistentStoreCoordinator = kind == .inMemory ? coordinator : try Self.coordinator(kind, url)
      return context
    }

    func work<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
      let context = try context()
      return try context.performAndWait { try body(context) }
    }
  }

  private static func model() -> NSManagedObjectModel {
    let (shop, order, item) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (shop.name, order.name, item.name) = ("Shop", "Order", "Item")
    func pair(_ many: String, _ entity: NSEntityDescription, _ one: String, _ owner: NSEntityDescription)
      -> (NSRelationshipDescription, NSRelationshipDescription)
    {
      let (members, of) = (relationship(many, to: entity), relationship(one, to: owner, isToMany: false))
      (members.inverseRelationship, of.inverseRelationship) = (of, members)
      return (members, of)
    }
    let (orders, ofShop) = pair("orders", order, "shop", shop)
    let (items, ofOrder) = pair("items", item, "order", order)
    shop.properties = [
      attribute("name", .string), orders, derived("turnover", .integer64, from: "orders.@sum.total"),
    ]
    order.properties = [
      attribute("note", .string), ofShop, items, derived("total", .integer64, from: "items.price.@sum"),
      derived("count", .integer64, from: "items.@count"), derived("place", .string, from: "uppercase:(shop.name)"),
    ]
    item.properties = [
      attribute("price", .integer64), attribute("text", .string), ofOrder,
      derived("place", .string, from: "order.shop.name"),
    ]
    let model = NSManagedObjectModel()
    model.entities = [shop, order, item]
    return model
  }

  private func insert(_ entity: String, _ values: [String: Any], _ context: NSManagedObjectContext) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
    for (key, value) in values { object[key] = value }
    return object
  }

  /// A shop with two orders: one of items for 1 and 2, one of an item for 10.
  private func fill(_ stack: Stack) throws {
    try stack.work { context in
      let shop = insert("Shop", ["name": "Elm"], context)
      let orders = [1, 2].map { insert("Order", ["note": "\($0)", "shop": shop], context) }
      for (price, order) in [(1, 0), (2, 0), (10, 1)] {
        _ = insert("Item", ["price": price, "order": orders[order]], context)
      }
      try context.save()
    }
    try expect(stack, turnover: 13, "Elm")
  }

  private func all(
    _ entity: String, _ context: NSManagedObjectContext, _ format: String = "TRUEPREDICATE"
  ) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    request.predicate = NSPredicate(format: format)
    return try context.fetch(request)
  }

  /// Expects that all that is stored agrees with what it is derived from, also in predicates.
  private func expect(
    _ stack: Stack, turnover: Int? = nil, _ place: String? = nil, _ comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try stack.work { context in
      for shop in try all("Shop", context) {
        if let turnover { #expect(shop["turnover"] as? Int == turnover, comment, sourceLocation: sourceLocation) }
      }
      for order in try all("Order", context) {
        let sum = order.value(forKeyPath: "items.@sum.price") as? Int
        #expect(order["total"] as? Int == sum, comment, sourceLocation: sourceLocation)
        #expect(
          order["count"] as? Int == (order["items"] as? NSSet)?.count, comment, sourceLocation: sourceLocation)
        let name = order.value(forKeyPath: "shop.name") as? String
        #expect(order["place"] as? String == name?.uppercased(), comment, sourceLocation: sourceLocation)
      }
      for shop in try all("Shop", context) {
        let sum = shop.value(forKeyPath: "orders.@sum.total") as? Int
        #expect(shop["turnover"] as? Int == sum, comment, sourceLocation: sourceLocation)
      }
      for item in try all("Item", context) {
        let name = item.value(forKeyPath: "order.shop.name") as? String
        #expect(item["place"] as? String == name, comment, sourceLocation: sourceLocation)
      }
      if let place {
        #expect(try all("Item", context, "place = '\(place)'").count == 3, comment, sourceLocation: sourceLocation)
      }
    }
  }

  @Test(
    "A changed object is saved with all that is derived from it, and what does not differ keeps its version.",
    arguments: Kind.allCases)
  func changes(_ kind: Kind) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      let saved = Saved(context)
      try all("Shop", context)[0]["name"] = "Oak"
      try context.save()
      #expect(saved.names(NSUpdatedObjectsKey) == ["Item", "Item", "Item", "Order", "Order", "Shop"])
      try all("Item", context, "price = 2")[0]["price"] = 5
      try context.save()
      #expect(saved.names(NSUpdatedObjectsKey) == ["Item", "Order", "Shop"])
      try all("Item", context, "price = 5")[0]["text"] = "bread"
      try context.save()
      #expect(saved.names(NSUpdatedObjectsKey) == ["Item"])
    }
    try expect(stack, turnover: 16, "Oak")
  }

  /// The objects of the last save.
  private final class Saved: @unchecked Sendable {
    private var token: (any NSObjectProtocol)?
    private var last: [AnyHashable: Any] = [:]

    init(_ context: NSManagedObjectContext) {
      token = NotificationCenter.default.addObserver(
        forName: NSManagedObjectContext.didSaveObjectsNotification, object: context, queue: nil
      ) { [weak self] in self?.last = $0.userInfo ?? [:] }
    }

    deinit { token.map(NotificationCenter.default.removeObserver) }

    func names(_ key: String) -> [String] {
      (last[key] as? Set<NSManagedObject> ?? []).map { $0.entity.name ?? "" }.sorted()
    }
  }

  @Test("Deleted, inserted and moved objects change what is derived from them.", arguments: Kind.allCases)
  func members(_ kind: Kind) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      let order = try #require(try all("Order", context, "note = '2'").first)
      context.delete(try all("Item", context, "price = 1")[0])
      try all("Item", context, "price = 2")[0]["order"] = order
      _ = insert("Item", ["price": 100, "order": order], context)
      try context.save()
      #expect(order["total"] as? Int == 112)
    }
    try expect(stack, turnover: 112)
    try stack.work { context in
      context.delete(try all("Shop", context)[0])
      try context.save()
    }
    try expect(stack)
  }

  @Test(
    "Two contexts that change different objects of one derivation both save, whatever the merge policy.",
    arguments: Kind.allCases)
  func conflicts(_ kind: Kind) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      let items = try all("Item", context)
      for order in try all("Order", context) { _ = order.value(forKeyPath: "items.@sum.price") }
      try stack.work { other in
        try all("Item", other, "price = 1")[0]["price"] = 1000
        try other.save()
      }
      try #require(items.first { $0["price"] as? Int == 2 })["price"] = 2000
      try context.save()
    }
    try expect(stack, turnover: 3010)
  }

  @Test(
    "A save that fails leaves objects unchanged that only derivations would have changed.",
    arguments: Kind.allCases)
  func failure(_ kind: Kind) throws {
    let stack = try Stack(kind)
    try fill(stack)
    try stack.work { context in
      let (shop, order) = (try all("Shop", context)[0], try all("Order", context)[0])
      #expect(order["place"] as? String == "ELM")
      shop["name"] = "mine"
      try stack.work { other in
        try all("Shop", other)[0]["name"] = "theirs"
        try other.save()
      }
      #expect(throws: (any Error).self) { try context.save() }
      #expect(context.updatedObjects == [shop] && order["place"] as? String != "MINE")
      context.rollback()
    }
    try expect(stack, "theirs")
  }

  @Test(
    "Whatever two contexts change at once, what is stored agrees with what it is derived from.",
    arguments: Kind.allCases)
  func random(_ kind: Kind) throws {
    let seed = chooseSeed()
    // Which end of a relationship counts that both contexts have changed is a matter of the policies.
    for policy in [NSMergePolicy.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .error] {
      var generator = SeededGenerator(seed: seed)
      let stack = try Stack(kind)
      try fill(stack)
      let contexts = try [stack.context(), stack.context()]
      for context in contexts { context.performAndWait { context.mergePolicy = policy } }
      for step in 0..<60 {
        let context = contexts[Int.random(in: 0...1, using: &generator)]
        try context.performAndWait {
          try change(context, movesItems: policy === NSMergePolicy.error, &generator)
          guard Int.random(in: 0..<3, using: &generator) == 0 else { return }
          do {
            try context.save()
          } catch  where (error as NSError).code == NSManagedObjectMergeError && policy === NSMergePolicy.error {
            context.rollback()
            context.refreshAllObjects()
          }
        }
        try expect(stack, nil, "seed \(seed), \(policy.mergeType), step \(step)")
      }
    }
  }

  private func change(
    _ context: NSManagedObjectContext, movesItems: Bool, _ generator: inout SeededGenerator
  ) throws {
    let value = Int.random(in: 0..<100, using: &generator)
    func any(_ entity: String) throws -> NSManagedObject? {
      try all(entity, context).sorted { $0.objectID.description < $1.objectID.description }
        .randomElement(using: &generator)
    }
    switch Int.random(in: 0..<7, using: &generator) {
    case 0: try any("Shop")?["name"] = "shop \(value)"
    case 1, 2: try any("Item")?["price"] = value
    case 3: _ = insert("Item", ["price": value, "order": try any("Order") ?? NSNull()], context)
    case 4: if movesItems { try any("Item")?["order"] = try any("Order") }
    case 5: try any("Order")?["note"] = "\(value)"
    default: try any("Item")?["text"] = "\(value)"
    }
  }

  @Test("A model in code whose derivation needs a relationship without an inverse is refused when a store is added.")
  func refused() throws {
    let model = Self.model()
    let item = try #require(model.entitiesByName["Item"])
    item.relationshipsByName["order"]?.inverseRelationship = nil
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let error = #expect(throws: NSError.self) {
      try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    }
    #expect(error?.code == NSPersistentStoreIncompatibleSchemaError)
    #expect(
      error?.localizedDescription.contains(
        "Item.place is derived from order.shop.name, but Item.order has no inverse relationship") == true)
  }
}

import CairnIncrementalStore
import OpenCoreData

/// Saves that change objects other than those that the application has changed: by attributes that are derived over
/// relationships, and by deletions of objects that are members of relationships without an inverse.
struct FarEffects {
  let sizes: [Int]
  let rounds: Int
  let url: URL

  func measure(into table: inout FigureTable) throws {
    for size in sizes {
      try withNewStore(at: url, Self.derivingModel()) { context in
        try derived(size, context) { table.add("\(size) items, \($0)", $1, $2) }
      }
      try withNewStore(at: url, Self.albumModel()) { context in
        try deleted(size, context) { table.add("\(size) albums, \($0)", $1, $2) }
      }
    }
  }

  private typealias Report = (_ what: String, _ figures: [Double], _ unit: String) -> Void

  private func derived(_ size: Int, _ context: NSManagedObjectContext, _ report: Report) throws {
    let order = context.insert("Order", ["name": "first"])
    for _ in 0..<size { _ = context.insert("Item", ["price": 1, "order": order]) }
    try context.save()
    report("a text changed that nothing is derived from, saved", try saves(context, "Item", "text"), "µs")
    report("a price changed from which a sum is derived, saved", try saves(context, "Item", "price"), "µs")
    report(
      "the order's name changed, derived in each item, saved, for one item",
      try saves(context, "Order", "name").map { $0 * 1e3 / Double(size) }, "ns")
  }

  /// The microseconds of each save of a new value of one object, in a context that has read nothing else.
  private func saves(_ context: NSManagedObjectContext, _ entity: String, _ key: String) throws -> [Double] {
    try (0..<rounds).map { round in
      context.reset()
      let object = try context.first(entity)
      object.setValue(key == "price" ? NSNumber(value: round + 2) : "value \(round)", forKey: key)
      return try time(1) { try context.save() }.each / 1e3
    }
  }

  private func deleted(_ size: Int, _ context: NSManagedObjectContext, _ report: Report) throws {
    let tags = (0..<rounds).map { _ in context.insert("Tag", [:]) }
    for _ in 0..<3 * rounds { _ = context.insert("Spare", [:]) }
    for _ in 0..<size { _ = context.insert("Album", ["tags": NSSet(array: tags)]) }
    try context.save()
    func deletions(_ entity: String, _ prepare: () throws -> Any?) throws -> [Double] {
      try (0..<rounds).map { _ in
        context.reset()
        let held = try prepare()
        defer { withExtendedLifetime(held) {} }
        context.delete(try context.first(entity))
        return try time(1) { try context.save() }.each / 1e3
      }
    }
    report("an object deleted that is a member of none, saved", try deletions("Spare") { nil }, "µs")
    report("the same, all albums registered", try deletions("Spare") { try context.all("Album") }, "µs")
    report(
      "the same, the tags of all albums read",
      try deletions("Spare") {
        let albums = try context.all("Album")
        for album in albums { _ = (album.value(forKey: "tags") as? NSSet)?.count }
        return albums
      }, "µs")
    report(
      "a tag of all albums deleted, saved, for one album",
      try deletions("Tag") { nil }.map { $0 * 1e3 / Double(size) }, "ns")
  }

  private static func derivingModel() -> NSManagedObjectModel {
    let (order, item) = (NSEntityDescription(), NSEntityDescription())
    (order.name, item.name) = ("Order", "Item")
    let (items, owner) = (relationship("items", to: item), relationship("order", to: order, maxCount: 1))
    (items.inverseRelationship, owner.inverseRelationship) = (owner, items)
    order.properties = [
      attribute("name", .stringAttributeType), items,
      derived("total", .integer64AttributeType, from: "items.price.@sum"),
    ]
    item.properties = [
      attribute("price", .integer64AttributeType), attribute("text", .stringAttributeType), owner,
      derived("customer", .stringAttributeType, from: "order.name"),
    ]
    let model = NSManagedObjectModel()
    model.entities = [order, item]
    return model
  }

  private static func albumModel() -> NSManagedObjectModel {
    let (album, tag, spare) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
    (album.name, tag.name, spare.name) = ("Album", "Tag", "Spare")
    tag.subentities = [spare]
    album.properties = [relationship("tags", to: tag)]
    let model = NSManagedObjectModel()
    model.entities = [album, tag, spare]
    model.logsWarnings = false
    return model
  }

  private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    (attribute.name, attribute.attributeType) = (name, type)
    return attribute
  }

  private static func derived(_ name: String, _ type: NSAttributeType, from format: String) -> NSPropertyDescription {
    let attribute = NSDerivedAttributeDescription()
    (attribute.name, attribute.attributeType) = (name, type)
    attribute.derivationExpression = NSExpression(format: format)
    return attribute
  }

  private static func relationship(
    _ name: String, to entity: NSEntityDescription, maxCount: Int = 0
  ) -> NSRelationshipDescription {
    let relationship = NSRelationshipDescription()
    (relationship.name, relationship.destinationEntity, relationship.maxCount) = (name, entity, maxCount)
    return relationship
  }
}

extension NSManagedObjectContext {
  fileprivate func insert(_ entity: String, _ values: [String: Any]) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
    for (key, value) in values { object.setValue(value, forKey: key) }
    return object
  }

  fileprivate func all(_ entity: String) throws -> [NSManagedObject] { try fetch(request(entity)) }

  fileprivate func first(_ entity: String) throws -> NSManagedObject {
    let request = request(entity)
    request.fetchLimit = 1
    return try fetch(request)[0]
  }

  private func request(_ entity: String) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: entity)
    (request.includesSubentities, request.returnsObjectsAsFaults) = (false, false)
    return request
  }
}

import CoreData
import Testing

@Suite("Nodes")
struct NodeTests {
  private let stack: Stack<RecordingStore>
  private let person: NSEntityDescription

  init() throws {
    stack = try Stack()
    person = stack.coordinator.managedObjectModel.entitiesByName["Person"]!
  }

  private func property(_ name: String) -> NSPropertyDescription { person.propertiesByName[name]! }

  @Test("A node has an identifier, values and a version.")
  func values() {
    let id = stack.store.identifier(1)
    let house = stack.store.identifier(4)
    let node = NSIncrementalStoreNode(objectID: id, withValues: ["name": "Ada", "home": house], version: 3)
    #expect(node.objectID == id)
    #expect(node.version == 3)
    #expect(node.value(for: property("name")) as? String == "Ada")
    #expect(node.value(for: property("home")) as? NSManagedObjectID == house)
    #expect(node.value(for: property("age")) == nil)
  }

  @Test("Updating a node gives it new values and a new version.")
  func update() {
    let node = NSIncrementalStoreNode(objectID: stack.store.identifier(1), withValues: ["name": "Ada"], version: 1)
    node.update(withValues: ["age": 37], version: 2)
    #expect(node.version == 2)
    #expect(node.value(for: property("age")) as? Int == 37)
  }

  @Test("A node stores a to-one relationship to nothing as `NSNull`.")
  func null() {
    let node = NSIncrementalStoreNode(objectID: stack.store.identifier(1), withValues: ["home": NSNull()], version: 1)
    #expect(node.value(for: property("home")) is NSNull)
  }

  @Test("A node may be of a subclass that finds its values itself.")
  func subclass() throws {
    let stack = try Stack<LazyNodeStore>()
    try stack.work { context in
      let bob = try context.person("Bob")
      #expect(bob["name"] as? String == "BOB")
      #expect(bob["home"] == nil)
      bob["age"] = 26
      try context.save()
    }
  }
}

private final class LazyNode: NSIncrementalStoreNode {
  let row: BackingRow

  init(_ objectID: NSManagedObjectID, _ row: BackingRow) {
    self.row = row
    super.init(objectID: objectID, withValues: [:], version: row.version)
  }

  override func value(for prop: NSPropertyDescription) -> Any? {
    if prop is NSRelationshipDescription { return NSNull() }
    let value = row.attributes[prop.name]
    return (value as? String)?.uppercased() ?? value
  }
}

private final class LazyNodeStore: RecordingStore {
  override func newValuesForObject(
    with objectID: NSManagedObjectID, with context: NSManagedObjectContext
  ) throws -> NSIncrementalStoreNode {
    LazyNode(objectID, try row(objectID))
  }
}

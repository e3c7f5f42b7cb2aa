import CoreData
import Testing

@Suite("Answers of a store for a relationship", .anyStore)
struct RelationshipAnswerTests {
  @Test(
    "A store may answer for a to-many relationship with any collection of identifiers.",
    arguments: CollectionStore.Kind.allCases)
  func collections(_ kind: CollectionStore.Kind) throws {
    let stack = try Stack<CollectionStore>()
    stack.store.kind = kind
    try stack.work { context in
      let house = try context.all("House")[0]
      #expect(house.names("residents") == ["Ada", "Bob"])
      #expect(try context.person("Cleo").members("friends").isEmpty)
    }
  }

  @Test("Objects of a relationship have the entities of their identifiers, which may be subentities.")
  func subentity() throws {
    let stack = try Stack<RecordingStore>()
    stack.backing.rows[1]?.toMany["friends"] = [3]
    stack.backing.rows[3]?.toMany["friends"] = [1]
    try stack.work { context in
      let friend = try #require(try context.person("Ada").members("friends").first)
      #expect(friend.entity.name == "Child")
      #expect(friend["grade"] as? Int == 2)
    }
  }

  @Test("An ordered relationship has the order of the store's answer.")
  func order() throws {
    let stack = try Stack<RecordingStore>()
    func titles() throws -> [String] {
      try stack.work { try $0.person("Ada").members("errands").map { $0["title"] as! String } }
    }
    #expect(try titles() == ["bread", "milk"])
    stack.backing.rows[1]?.toMany["errands"] = [7, 6]
    #expect(try titles() == ["milk", "bread"])
  }

  @Test("Objects of a relationship are those of the context.")
  func identity() throws {
    let stack = try Stack<RecordingStore>()
    try stack.work { context in
      let (ada, bob) = (try context.person("Ada"), try context.person("Bob"))
      #expect(ada.members("friends").first === bob)
      #expect(bob.members("friends").first === ada)
    }
  }
}

/// Returns the members of relationships as a certain kind of collection.
final class CollectionStore: RecordingStore {
  enum Kind: CaseIterable {
    case array, set, orderedSet, swiftSet
  }

  var kind = Kind.array

  override func newValue(
    forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
    with context: NSManagedObjectContext?
  ) throws -> Any {
    let value = try super.newValue(forRelationship: relationship, forObjectWith: objectID, with: context)
    guard let members = value as? [NSManagedObjectID] else { return value }
    switch kind {
    case .array: return NSArray(array: members)
    case .set: return NSSet(array: members)
    case .orderedSet: return NSOrderedSet(array: members)
    case .swiftSet: return Set(members)
    }
  }
}

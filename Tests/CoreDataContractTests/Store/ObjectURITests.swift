import CoreData
import Testing

@Suite("The URI of an object identifier", .anyStore)
struct ObjectURITests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  private func id(_ reference: Any, _ entityName: String = "Person") -> NSManagedObjectID {
    stack.store.newObjectID(for: stack.store.entity(entityName), referenceObject: reference)
  }

  @Test("A URI has the store's identifier, the entity's name, and the reference after a `p`.")
  func form() {
    let store = stack.backing.identifier
    #expect(id(NSNumber(value: 7)).uriRepresentation().absoluteString == "x-coredata://\(store)/Person/p7")
    #expect(id("ada-1", "Child").uriRepresentation().absoluteString == "x-coredata://\(store)/Child/pada-1")
  }

  @Test("A URI leads back to an identifier of the same object.")
  func wayBack() throws {
    let uri = stack.store.identifier(3).uriRepresentation()
    let found = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
    #expect(found.entity.name == "Child" && found.persistentStore === stack.store && !found.isTemporaryID)
    #expect(found.uriRepresentation() == uri)
    try stack.work { context throws in
      #expect(try context.existingObject(with: found)["name"] as? String == "Cleo")
    }
  }

  @Test("A URI has the reference as text, which a store must accept for a number, too.")
  func numbers() throws {
    let uri = id(NSNumber(value: 3)).uriRepresentation()
    let found = try #require(stack.coordinator.managedObjectID(forURIRepresentation: uri))
    #expect("\(stack.store.referenceObject(for: found))" == "3")
  }

  @Test("A URI escapes the characters that a path cannot have.")
  func escapes() throws {
    let uri = id("a b").uriRepresentation()
    #expect(uri.absoluteString == "x-coredata://\(stack.backing.identifier)/Person/pa%20b")
    #expect(stack.coordinator.managedObjectID(forURIRepresentation: uri) != nil)
  }

  // Apple's Core Data returns numbers as strings, and escaped text without removing the escapes.
  #if !canImport(Darwin)
    @Test("A URI leads back to an equal identifier.", arguments: [3, "ada-1", "a b/c", "ü%"] as [any Sendable])
    func equality(_ reference: any Sendable) throws {
      let id = id(reference is Int ? NSNumber(value: 3) : reference)
      let found = try #require(stack.coordinator.managedObjectID(forURIRepresentation: id.uriRepresentation()))
      #expect(found == id)
      #expect("\(stack.store.referenceObject(for: found))" == "\(reference)")
    }
  #endif

  @Test("A URI leads to no identifier if the coordinator lacks its store or its entity.")
  func unknown() {
    let store = stack.backing.identifier
    for text in ["x-coredata://other/Person/p1", "x-coredata://\(store)/Dragon/p1", "https://example.org/Person/p1"] {
      #expect(stack.coordinator.managedObjectID(forURIRepresentation: URL(string: text)!) == nil)
    }
  }

  @Test("A URI remains valid as long as the store keeps its identifier.")
  func laterStack() throws {
    let uri = stack.store.identifier(1).uriRepresentation()
    let later = try Stack<RecordingStore>(Town.model(), stack.backing)
    let found = try #require(later.coordinator.managedObjectID(forURIRepresentation: uri))
    try later.work { context throws in
      #expect(try context.existingObject(with: found)["name"] as? String == "Ada")
    }
    let other = try Stack<RecordingStore>()
    #expect(other.coordinator.managedObjectID(forURIRepresentation: uri) == nil)
  }
}

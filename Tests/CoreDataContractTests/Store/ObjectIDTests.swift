import CoreData
import Testing

@Suite("Object identifiers", .anyStore)
struct ObjectIDTests {
  private let stack: Stack<RecordingStore>
  private let person: NSEntityDescription
  private let child: NSEntityDescription

  init() throws {
    stack = try Stack()
    person = stack.store.entity("Person")
    child = stack.store.entity("Child")
  }

  private func id(_ reference: Any) -> NSManagedObjectID {
    stack.store.newObjectID(for: person, referenceObject: reference)
  }

  @Test("Object identifiers are equal if they have the same entity and reference.", arguments: ["7", "seven", "7f-3a"])
  func equality(_ reference: String) {
    #expect(id(reference) == id(reference))
    #expect(id(reference).hash == id(reference).hash)
    #expect(id(reference) != id(reference + "0"))
    #expect(id(NSNumber(value: 7)) == id(NSNumber(value: 7)))
  }

  @Test("A permanent identifier has its store and the entity it was made for, which may be a subentity.")
  func parts() {
    let id = stack.store.newObjectID(for: child, referenceObject: NSNumber(value: 3))
    #expect(!id.isTemporaryID)
    #expect(id.persistentStore === stack.store)
    #expect(id.entity === child)
  }

  @Test("An object identifier returns its reference, a number or a string.")
  func reference() {
    #expect(stack.store.referenceObject(for: id(NSNumber(value: 7))) as? Int == 7)
    #expect(stack.store.referenceObject(for: id("seven")) as? String == "seven")
  }

  @Test("A reference may be of another type; its description identifies it.")
  func data() {
    let id = id(NSData(data: Data([1, 2])))
    #expect(!id.isTemporaryID && id.entity === person)
  }

  @Test("The identifier of a new object is temporary and belongs to no store.")
  func temporary() {
    stack.work { context in
      let id = context.make("Person").objectID
      #expect(id.isTemporaryID && id.entity.name == "Person")
    }
  }

  #if !canImport(Darwin)
    @Test("Asking a store for the reference of another store's identifier ends the program.")
    func foreignStore() async {
      await #expect(processExitsWith: .failure) {
        let (one, other) = (try Stack<RecordingStore>(), try Stack<RecordingStore>())
        _ = one.store.referenceObject(for: other.store.identifier(1))
      }
    }
  #endif
}

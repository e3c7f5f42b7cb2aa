import CoreData
import Testing

@Suite("One object for each identifier", .anyStore)
struct IdentityTests {
  private let stack: Stack<RecordingStore>

  init() throws { stack = try Stack() }

  @Test("A context has one object for an identifier, however it was obtained.")
  func oneObject() throws {
    try stack.work { context throws in
      let id = stack.store.identifier(1)
      let ada = context.object(with: id)
      #expect(try context.person("Ada") === ada)
      #expect(try context.existingObject(with: id) === ada)
      #expect(context.registeredObject(for: id) === ada)
      #expect(try context.person("Bob").members("friends").first === ada)
    }
  }

  @Test("Two contexts have different objects for one identifier.")
  func twoContexts() throws {
    try stack.work { first in
      let ada = try first.person("Ada")
      try stack.work { second in
        let other = try second.person("Ada")
        #expect(other !== ada && other.objectID == ada.objectID)
        #expect(ada.managedObjectContext === first && other.managedObjectContext === second)
      }
    }
  }

  @Test("`object(with:)` makes an object without asking the store, even if there is no row.")
  func objectWithIdentifier() throws {
    let id = stack.store.identifier(1)
    stack.backing.rows[1] = nil
    stack.work { context in
      let calls = stack.calls { #expect(context.object(with: id).isFault) }
      #expect(calls.allSatisfy { $0.method == nil })
    }
  }

  @Test("`registeredObject(for:)` returns only objects that the context has, and does not ask the store.")
  func registeredObject() throws {
    try stack.work { context in
      stack.expectCalls([]) { #expect(context.registeredObject(for: stack.store.identifier(1)) == nil) }
      let ada = try context.person("Ada")
      stack.expectCalls([]) { #expect(context.registeredObject(for: ada.objectID) === ada) }
    }
  }

  @Test("`existingObject(with:)` returns an object with its values, and asks for known values only once.")
  func existingObject() throws {
    try stack.work { context in
      let ada = try context.existingObject(with: stack.store.identifier(1))
      #expect(!ada.isFault)
      var again: NSManagedObject?
      try stack.expectCalls([]) { again = try context.existingObject(with: ada.objectID) }
      #expect(again === ada)
    }
  }

  @Test("A new object is found by its temporary identifier, only in its own context.")
  func temporaryIdentifier() throws {
    try stack.work { context throws in
      let dan = context.make("Person", ["name": "Dan"])
      #expect(try context.existingObject(with: dan.objectID) === dan)
      stack.work { other in
        #expect(thrown { try other.existingObject(with: dan.objectID) } != nil)
      }
    }
  }
}

import OpenCoreData
import Testing

/// An object has the same identifier in a context and in its children.
@Suite struct ChildIdentifierTests {
  private let bank: Bank

  init() throws { bank = try Bank(accounts: 2) }

  private func work(_ body: (_ parent: NSManagedObjectContext, _ child: NSManagedObjectContext) throws -> Void) throws {
    let parent = bank.context("parent")
    let child = NSManagedObjectContext(.privateQueue)
    child.parent = parent
    try parent.performAndWait { try child.performAndWait { try body(parent, child) } }
  }

  private func insert(into context: NSManagedObjectContext) -> NSManagedObject {
    NSEntityDescription.insertNewObject(forEntityName: "Account", into: context)
  }

  @Test("A save of a child gives inserted objects the identifiers that they have in the store.")
  func saved() throws {
    try work { parent, child in
      let object = insert(into: child)
      #expect(object.objectID.isTemporaryID)
      try child.save()
      let id = object.objectID
      #expect(!id.isTemporaryID)
      #expect(parent.insertedObjects.map(\.objectID) == [id])
      try parent.save()
      #expect(object.objectID == id)
      let other = bank.context("other")
      #expect(try other.performAndWait { try other.existingObject(with: id).balance } == 0)
    }
  }

  @Test("A child finds an object that its parent has inserted by the temporary identifier, and only one object.")
  func temporary() throws {
    try work { (parent, child) throws in
      let object = insert(into: parent)
      object.balance = 5
      let temporary = object.objectID
      let ours = child.object(with: temporary)
      #expect(ours.balance == 5 && ours.objectID == object.objectID && !ours.objectID.isTemporaryID)
      #expect(child.object(with: temporary) === ours)
      #expect(try child.existingObject(with: temporary) === ours)
      let request = NSFetchRequest<NSManagedObject>(entityName: "Account")
      request.predicate = NSPredicate(format: "SELF == %@", temporary)
      #expect(try child.fetch(request) == [ours])
      try parent.save()
      #expect(try child.fetch(request) == [ours])
    }
  }

  @Test("A parent that a context has, and a parent of another coordinator, are refused.")
  func refused() async {
    await #expect(processExitsWith: .failure) {
      let bank = try Bank(accounts: 1)
      let (context, other) = (bank.context("a"), NSManagedObjectContext(.privateQueue))
      other.parent = context
      let third = NSManagedObjectContext(.privateQueue)
      third.parent = other
      context.parent = third
    }
    await #expect(processExitsWith: .failure) {
      let bank = try Bank(accounts: 1)
      let context = try Bank(accounts: 1).context("a")
      context.parent = bank.context("b")
    }
    await #expect(processExitsWith: .failure) {
      let bank = try Bank(accounts: 1)
      let confined = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
      confined.persistentStoreCoordinator = bank.coordinator
      NSManagedObjectContext(.privateQueue).parent = confined
    }
  }
}

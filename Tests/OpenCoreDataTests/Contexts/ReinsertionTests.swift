import OpenCoreData
import Testing

@Suite("Objects that are deleted and inserted again")
struct ReinsertionTests {
  private let family: Family

  init() throws { family = try Family() }

  @Test("An object inserted again before its deletion is saved has its relationships at both ends.")
  func deleted() throws {
    try family.run { context, _ in
      let parent = context.make("Person", "P")
      let object = context.make("Person", "X", ["parent": parent])
      let (child, other) = (context.make("Person", "C", ["parent": object]), context.make("Person", "O"))
      other["parent"] = object
      try context.save()
      context.delete(object)
      context.delete(other)
      context.processPendingChanges()
      context.insert(object)
      #expect(parent.names("children") == ["X"])
      #expect(child["parent"] as? NSManagedObject === object)
      try context.save()
      #expect(try family.stored(object, "parent") == ["P"])
      #expect(try family.stored(object, "children") == ["C"])
      #expect(try family.stored(parent, "children") == ["X"])
      #expect(try family.stored(child, "parent") == ["X"])
    }
  }

  @Test("An object that was never saved has its relationships at both ends when it is inserted again.")
  func forgotten() throws {
    try family.run { context, _ in
      let parent = context.make("Person", "P")
      let object = context.make("Person", "X", ["parent": parent])
      context.delete(object)
      context.processPendingChanges()
      context.insert(object)
      #expect(parent.names("children") == ["X"])
      try context.save()
      #expect(try family.stored(parent, "children") == ["X"])
    }
  }

  @Test("An object inserted again after its deletion was saved is a new row.")
  func saved() throws {
    try family.run { context, _ in
      let (parent, gone) = (context.make("Person", "P"), context.make("Person", "G"))
      let object = context.make("Person", "X", ["parent": parent])
      let child = context.make("Person", "C", ["parent": object])
      gone["parent"] = object
      try context.save()
      let id = object.objectID
      context.delete(object)
      context.delete(gone)
      try context.save()
      context.insert(object)
      #expect(object.objectID.isTemporaryID)
      #expect(child["parent"] as? NSManagedObject === object)
      try context.save()
      #expect(object.objectID != id)
      #expect(try family.stored(object, "parent") == ["P"])
      #expect(try family.stored(object, "children") == ["C"])
      #expect(try family.stored(parent, "children") == ["X"])
      #expect(errorCode { _ = try context.existingObject(with: id) } == NSManagedObjectReferentialIntegrityError)
    }
  }
}

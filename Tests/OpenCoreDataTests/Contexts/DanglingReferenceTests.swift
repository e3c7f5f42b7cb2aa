import OpenCoreData
import Testing

@Suite("Relationships to objects that will not be in the store")
struct DanglingReferenceTests {
  private let family: Family

  init() throws { family = try Family() }

  @Test("A reference to a deleted object is not saved.")
  func deleted() throws {
    try family.run { context, _ in
      let (ann, bob, cleo) = (
        context.make("Person", "Ann"), context.make("Person", "Bob"), context.make("Person", "Cleo")
      )
      try context.save()
      context.delete(ann)
      context.processPendingChanges()
      bob["parent"] = ann
      cleo["friend"] = ann
      #expect(errorCode { try context.save() } == NSValidationMultipleErrorsError)
      bob["parent"] = nil
      #expect(errorCode { try context.save() } == NSManagedObjectValidationError)
      cleo["friend"] = nil
      try context.save()
    }
  }

  @Test("An unchanged reference may stay in the store when its object is deleted.")
  func unchanged() throws {
    try family.run { context, _ in
      let ann = context.make("Person", "Ann")
      let bob = context.make("Person", "Bob", ["friend": ann])
      try context.save()
      context.delete(ann)
      bob["name"] = "Bert"
      try context.save()
      bob["name"] = "Bob"
      try context.save()
    }
  }

  @Test("A reference to an object that was deleted before it was saved is not saved under its permanent identifier.")
  func neverSaved() throws {
    try family.run { context, _ in
      let ann = context.make("Person", "Ann")
      let bob = context.make("Person", "Bob", ["friend": ann])
      try context.obtainPermanentIDs(for: [ann])
      context.delete(ann)
      #expect(errorCode { try context.save() } == NSManagedObjectValidationError)
      bob["friend"] = nil
      try context.save()
    }
  }
}

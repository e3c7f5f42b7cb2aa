import Foundation
import OpenCoreData
import Testing

@Suite("Saving objects of a store that was removed")
struct RemovedStoreTests {
  private let family: Family

  init() throws { family = try Family() }

  @Test("A save fails for inserted objects whose identifiers are of a removed store.")
  func inserted() throws {
    try family.run { context, _ in
      let ann = context.make("Person", "Ann")
      try context.obtainPermanentIDs(for: [ann])
      try family.coordinator.remove(family.store)
      #expect(errorCode { try context.save() } == NSManagedObjectReferentialIntegrityError)
      #expect(ann.isInserted)
    }
  }

  @Test("A save fails for deleted objects of a removed store, and is no conflict for changed ones.")
  func changed() throws {
    try family.run { context, _ in
      let (ann, bob) = (context.make("Person", "Ann"), context.make("Person", "Bob"))
      try context.save()
      try family.coordinator.remove(family.store)
      context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      context.delete(ann)
      #expect(errorCode { try context.save() } == NSManagedObjectReferentialIntegrityError)
      #expect(ann.isDeleted && ann.managedObjectContext === context)
      context.rollback()
      bob["name"] = "Bert"
      #expect(errorCode { try context.save() } == NSManagedObjectReferentialIntegrityError)
      #expect(bob.isUpdated)
    }
  }

  @Test("A save succeeds once the removed store is added again.")
  func addedAgain() throws {
    let coordinator = family.coordinator
    try coordinator.remove(family.store)
    let url = URL(fileURLWithPath: "/RemovedStoreTests")
    let type = NSPersistentStore.StoreType(rawValue: TestRowStore.storeType)
    NSPersistentStoreCoordinator.registerStoreClass(TestRowStore.self, type: type)
    defer { TestRowStore.forget(url) }
    let old = try coordinator.addPersistentStore(type: type, at: url)
    try family.run { a, b in
      let ann = a.make("Person", "Ann")
      try a.save()
      ann["name"] = "Anna"
      try coordinator.remove(old)
      try coordinator.addPersistentStore(type: type, at: url)
      try withExtendedLifetime(old) { try a.save() }
      #expect(!a.hasChanges)
      #expect(try b.own(ann)["name"] as? String == "Anna")
    }
  }
}

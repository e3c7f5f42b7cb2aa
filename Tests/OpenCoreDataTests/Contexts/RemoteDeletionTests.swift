import OpenCoreData
import Testing

@Suite("Deletions by another client")
struct RemoteDeletionTests {
  private func merge(
    _ rule: NSDeleteRule, _ check: (_ pet: NSManagedObject, _ b: NSManagedObjectContext, Family) throws -> Void
  ) throws {
    let family = try Family(childrenRule: rule)
    try family.run { a, b in
      let ada = a.make("Person", "Ada")
      try a.save()
      let pet = b.make("Person", "Pet", ["parent": try b.own(ada)])
      let id = ada.objectID
      a.delete(ada)
      try a.save()
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectIDsKey: [id]], into: [b])
      try check(pet, b, family)
    }
  }

  @Test("Merging a deletion removes the object from relationships that were changed here.")
  func nullify() throws {
    try merge(.nullifyDeleteRule) { pet, b, family in
      #expect(pet["parent"] == nil)
      try b.save()
      #expect(try family.stored(pet, "parent") == [])
    }
  }

  @Test("Merging a deletion also deletes new objects and what a cascade reaches.")
  func cascade() throws {
    try merge(.cascadeDeleteRule) { pet, b, _ in
      #expect(pet.managedObjectContext == nil)
      #expect(!b.hasChanges)
    }
  }

  @Test("An object that was related by others as it was here, and that they delete then, is no obstacle to a save.")
  func relatedByBoth() throws {
    let family = try Family()
    try family.run { a, b in
      let (ada, pet) = (a.make("Person", "Ada"), a.make("Person", "Pet"))
      try a.save()
      let ids = [ada.objectID, pet.objectID]
      let (ownAda, ownPet) = (try b.own(ada), try b.own(pet))
      ownPet["parent"] = ownAda
      ownAda["name"] = "Ada L."
      pet["parent"] = ada
      try a.save()
      NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSUpdatedObjectIDsKey: ids], into: [b])
      a.delete(pet)
      try a.save()
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectIDsKey: [ids[1]], NSUpdatedObjectIDsKey: [ids[0]]], into: [b])
      try b.save()
      #expect(try family.stored(ada, "children") == [])
    }
  }

  @Test("Merging a deletion leaves a context without changes unchanged.")
  func unchanged() throws {
    let family = try Family()
    try family.run { a, b in
      let ada = a.make("Person", "Ada")
      let pet = a.make("Person", "Pet", ["parent": ada])
      try a.save()
      let (own, id) = (try b.own(ada), ada.objectID)
      #expect(own.names("children") == ["Pet"])
      #expect(try b.own(pet)["parent"] as? NSManagedObject === own)
      a.delete(ada)
      try a.save()
      NSManagedObjectContext.mergeChanges(
        fromRemoteContextSave: [NSDeletedObjectIDsKey: [id], NSUpdatedObjectIDsKey: [pet.objectID]], into: [b])
      #expect(!b.hasChanges)
    }
  }

  @Test("An object that is found to be missing is removed from relationships.")
  func inaccessible() throws {
    let family = try Family()
    try family.run { a, b in
      let ada = a.make("Person", "Ada")
      try a.save()
      let own = b.object(with: ada.objectID)
      let pet = b.make("Person", "Pet", ["parent": own])
      a.delete(ada)
      try a.save()
      #expect(own["name"] == nil)
      #expect(own.isDeleted)
      #expect(pet["parent"] == nil)
      try b.save()
      #expect(try family.stored(pet, "parent") == [])
    }
  }

  @Test("Saving an object that was deleted elsewhere is a conflict though its derived attributes would be computed.")
  func derived() throws {
    let family = try Family()
    try family.run { a, b in
      let shelf = a.make("Shelf", "Left")
      try a.save()
      b.make("Book", "Emma", ["shelf": b.object(with: shelf.objectID)])
      a.delete(shelf)
      try a.save()
      #expect(errorCode { try b.save() } == NSManagedObjectMergeError)
    }
  }
}

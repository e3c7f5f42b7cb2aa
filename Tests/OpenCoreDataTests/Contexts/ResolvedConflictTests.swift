import OpenCoreData
import Testing

@Suite("What a merge policy makes of objects")
struct ResolvedConflictTests {
  private let family: Family

  init() throws { family = try Family() }

  @Test("is validated before it is saved")
  func validation() throws {
    try family.run { a, b in
      let shelf = a.make("Shelf", "Left")
      try a.save()
      b.make("Book", "Emma", ["shelf": try b.own(shelf)])
      a.delete(shelf)
      try a.save()
      b.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
      #expect(errorCode { try b.save() } == NSValidationMissingMandatoryPropertyError)
    }
  }

  @Test("has its derived attributes computed again")
  func derivation() throws {
    try family.run { a, b in
      let shelf = a.make("Shelf", "Left")
      try a.save()
      #expect(try b.own(shelf).names("books") == [])
      b.make("Book", "Emma", ["shelf": try b.own(shelf)])
      a.make("Book", "Persuasion", ["shelf": shelf])
      try a.save()
      b.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
      try b.save()
      a.refresh(shelf, mergeChanges: false)
      #expect(shelf.names("books") == ["Emma", "Persuasion"])
      #expect(shelf["count"] as? Int == 2)
    }
  }
}

import OpenCoreData
import Testing

@Suite("Objects changed by a merge policy")
struct ResolvedConflictTests {
  private let family: Family

  init() throws { family = try Family() }

  @Test("Objects that a merge policy has changed are validated before they are saved.")
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

  @Test("Derived attributes are computed again after a merge policy has changed their objects.")
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

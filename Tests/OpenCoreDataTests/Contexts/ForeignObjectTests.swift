import OpenCoreData
import Testing

@Suite("Permanent identifiers for objects that are not in the context")
struct ForeignObjectTests {
  @Test("A context obtains no permanent identifiers for objects of another context.")
  func none() throws {
    let family = try Family()
    try family.run { a, b in
      let (gone, other, own) = (a.make("Person", "Gone"), b.make("Person", "Other"), a.make("Person", "Own"))
      a.delete(gone)
      a.processPendingChanges()
      try a.obtainPermanentIDs(for: [gone, other, own])
      #expect(gone.objectID.isTemporaryID && other.objectID.isTemporaryID)
      #expect(!own.objectID.isTemporaryID)
      #expect(a.registeredObjects == [own])
      #expect(b.registeredObject(for: other.objectID) === other)
    }
  }
}

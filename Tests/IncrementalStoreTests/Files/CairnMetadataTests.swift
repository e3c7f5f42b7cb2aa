import CairnIncrementalStore
import CoreData
import Testing

@Suite("The metadata of a store on Cairn")
struct CairnMetadataTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test("A store on Cairn makes its identifier once.")
  func identifier() throws {
    let first = try place.work { _, store in store.identifier }
    #expect(try place.work { _, store in store.identifier } == first)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .cairn, at: place.url)
    #expect(metadata[NSStoreUUIDKey] as? String == first && metadata[NSStoreTypeKey] as? String == "Cairn")
    #expect(try Place().work { _, store in store.identifier } != first)
  }

  @Test("The metadata have the hashes of the model before anything is saved.")
  func hashes() throws {
    let hashes = try place.work { _, store in store.metadata[NSStoreModelVersionHashesKey] as? [String: Data] }
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .cairn, at: place.url)
    #expect(hashes?.isEmpty == false)
    #expect(metadata[NSStoreModelVersionHashesKey] as? [String: Data] == hashes)
  }

  @Test("Metadata can be set without a coordinator, and keep type and identifier.")
  func withoutCoordinator() throws {
    let identifier = try place.work { _, store in store.identifier }
    try NSPersistentStoreCoordinator.setMetadata(
      ["colour": "blue", NSStoreTypeKey: "SQLite"], type: .cairn, at: place.url)
    try place.work { _, store in
      #expect(store.metadata["colour"] as? String == "blue")
      #expect(store.identifier == identifier)
    }
  }

  @Test("Metadata keep type and identifier even if all others are replaced.")
  func replaced() throws {
    let identifier = try place.work { context, store in
      let identifier = store.identifier
      store.metadata = ["colour": "blue"]
      try context.save()
      return identifier
    }
    try place.work { _, store in
      #expect(store.metadata["colour"] as? String == "blue")
      #expect(store.identifier == identifier)
    }
  }

  @Test("Metadata are saved together with the objects, and not earlier.")
  func saved() throws {
    try place.work { _, store in store.metadata["colour"] = "blue" }
    try place.work { context, store in
      #expect(store.metadata["colour"] == nil)
      store.metadata["colour"] = "blue"
      try context.save()
    }
    #expect(try place.work { _, store in store.metadata["colour"] as? String } == "blue")
  }

  @Test("Metadata that are no property list fail the save, and the next save without them succeeds.")
  func unstorable() throws {
    try place.work { context, store in
      store.metadata["colour"] = Place.self
      #expect(thrown { try context.save() }?.code == NSPersistentStoreSaveError)
      store.metadata["colour"] = nil
      #expect(throws: Never.self) { try context.save() }
    }
  }

  @Test("Metadata that would make the store unreadable fail the save.")
  func unreadable() throws {
    try place.work { context, store in
      store.metadata["colours"] = (0..<40).reduce(["blue"] as [Any]) { list, _ in [list] }
      #expect(thrown { try context.save() }?.code == NSPersistentStoreSaveError)
      store.metadata["colours"] = nil
      store.metadata["most"] = NSNumber(value: UInt64.max)
      try context.save()
    }
    #expect(try place.work { _, store in store.metadata["most"] as? NSNumber } == NSNumber(value: UInt64.max))
  }
}

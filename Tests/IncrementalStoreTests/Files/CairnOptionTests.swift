import CairnIncrementalStore
import CoreData
import Testing

@Suite("The options of a store on Cairn")
struct CairnOptionTests {
  private let place: Place
  private let readOnly = [NSReadOnlyPersistentStoreOption: true]

  init() throws { place = try Place() }

  @Test("In a read-only store everything can be read, and a save fails.")
  func reading() throws {
    try place.fill()
    try place.work(readOnly) { context, store in
      #expect(store.isReadOnly)
      try context.person("Ada")["age"] = 37
      #expect(thrown { try context.save() }?.domain == NSCocoaErrorDomain)
      context.rollback()
      context.make("Person", ["name": "Bob"])
      #expect(thrown { try context.save() } != nil)
    }
    try place.work { context, _ throws in
      #expect(try context.names() == "Ada")
      #expect(try context.person("Ada")["age"] as? Int == 18)
    }
  }

  @Test("Opening a read-only store where there is none makes none.")
  func readingNothing() throws {
    #expect(place.refusal(readOnly)?.code == CocoaError.fileReadNoSuchFile.rawValue)
    #expect(!FileManager.default.fileExists(atPath: place.url.path))
  }

  @Test("A save may be durable or buffered.", arguments: ["durable", "buffered"])
  func durability(_ durability: String) throws {
    try place.work([CairnDurabilityOption: durability, CairnCompactionOption: false]) { context, _ in
      context.make("Person", ["name": "Ada"])
      try context.save()
    }
    #expect(try place.work { context, _ in try context.names() } == "Ada")
  }

  @Test("An unknown durability is refused.")
  func unknownDurability() {
    #expect(place.refusal([CairnDurabilityOption: "somewhat"])?.code == NSPersistentStoreOpenError)
    #expect(!FileManager.default.fileExists(atPath: place.url.path))
  }
}

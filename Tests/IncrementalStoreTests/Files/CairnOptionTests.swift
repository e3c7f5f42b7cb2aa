import CairnIncrementalStore
import CoreData
import Testing

@Suite("The options of a store on Cairn")
struct CairnOptionTests {
  private let place: Place
  private let readOnly = [NSReadOnlyPersistentStoreOption: true]

  init() throws { place = try Place() }

  @Test("read only: everything can be read, and nothing saved")
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

  @Test("read only: where there is no store none is made")
  func readingNothing() throws {
    #expect(place.refusal(readOnly)?.code == CocoaError.fileReadNoSuchFile.rawValue)
    #expect(!FileManager.default.fileExists(atPath: place.url.path))
  }

  @Test("a save may be durable or buffered", arguments: ["durable", "buffered"])
  func durability(_ durability: String) throws {
    try place.work([CairnDurabilityOption: durability, CairnCompactionOption: false]) { context, _ in
      context.make("Person", ["name": "Ada"])
      try context.save()
    }
    #expect(try place.work { context, _ in try context.names() } == "Ada")
  }

  @Test("anything else is refused")
  func unknownDurability() {
    #expect(place.refusal([CairnDurabilityOption: "somewhat"])?.code == NSPersistentStoreOpenError)
    #expect(!FileManager.default.fileExists(atPath: place.url.path))
  }
}

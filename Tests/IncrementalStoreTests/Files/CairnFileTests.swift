import Cairn
import CairnIncrementalStore
import CoreData
import Testing

@Suite("What is where a store on Cairn is to be")
struct CairnFileTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test("nothing: a store is made")
  func nothing() throws {
    try place.fill()
    #expect(try place.work { context, _ in try context.names() } == "Ada")
  }

  @Test("an empty file gives way to the store")
  func emptyFile() throws {
    try Data().write(to: place.url)
    try place.fill()
    #expect(try place.work { context, _ in try context.names() } == "Ada")
  }

  @Test("another file stays as it is")
  func otherFile() throws {
    try Data("a letter".utf8).write(to: place.url)
    #expect(place.refusal()?.domain == NSCocoaErrorDomain)
    #expect(try Data(contentsOf: place.url) == Data("a letter".utf8))
  }

  @Test("a directory with something else stays as it is")
  func otherDirectory() throws {
    try FileManager.default.createDirectory(at: place.url, withIntermediateDirectories: false)
    try Data("a letter".utf8).write(to: place.url.appending(path: "letter"))
    #expect(place.refusal()?.domain == NSCocoaErrorDomain)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.url.path) == ["letter"])
  }

  @Test("a store of Cairn's that is none of Core Data's stays as it is")
  func otherStore() throws {
    let store = try Store.open(at: place.url.path)
    try store.put([1], at: 1, in: store.keyspace("mine"))
    try store.close()
    #expect(place.refusal()?.code == NSPersistentStoreOpenError)
    let again = try Store.open(at: place.url.path)
    #expect(again.keyspaces.map(\.name) == ["mine"])
    try again.close()
  }

  @Test("a store that another program has open: the error says so, and is that of the engine beneath")
  func locked() throws {
    try place.fill()
    let lock = try Environment.system.files.lock("\(place.url.path)/LOCK", owner: Array("somebody else".utf8))
    let error = try #require(place.refusal())
    #expect(error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreOpenError)
    #expect((error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .locked)
    #expect(error.userInfo[NSFilePathErrorKey] as? String == place.url.path)
    withExtendedLifetime(lock) {}
  }

  @Test("a store that this program has open is shared")
  func shared() throws {
    try place.work { first, one in
      try place.work { second, other in
        second.make("Person", ["name": "Bob"])
        try second.save()
        #expect(one.identifier == other.identifier)
      }
      #expect(try first.names() == "Bob")
      first.make("Person", ["name": "Ada"])
      try first.save()
    }
    #expect(try place.work { context, _ in try context.names() } == "Ada Bob")
  }

  @Test("a store that is destroyed: nothing is there, and it may be so already")
  func destroyed() throws {
    try place.fill()
    for _ in 0..<2 {
      try CairnIncrementalStore.destroyPersistentStore(at: place.url, options: nil)
      #expect(!FileManager.default.fileExists(atPath: place.url.path))
    }
  }

  @Test("what is none of Cairn's, or in use, is not destroyed")
  func notDestroyed() throws {
    try place.work { context, _ in
      #expect(
        thrown { try CairnIncrementalStore.destroyPersistentStore(at: place.url, options: nil) }?.code
          == NSPersistentStoreOpenError)
    }
    let other = try Place()
    try Data("a letter".utf8).write(to: other.url)
    let options = [NSPersistentStoreForceDestroyOption: true]
    #expect(thrown { try CairnIncrementalStore.destroyPersistentStore(at: other.url, options: options) } != nil)
    #expect(try Data(contentsOf: other.url) == Data("a letter".utf8))
  }
}

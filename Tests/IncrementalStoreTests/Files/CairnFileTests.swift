import Cairn
import CairnIncrementalStore
import CoreData
import Testing

@Suite("Files in the place of a store on Cairn")
struct CairnFileTests {
  private let place: Place

  init() throws { place = try Place() }

  @Test("A store is made where nothing is.")
  func nothing() throws {
    try place.fill()
    #expect(try place.work { context, _ in try context.names() } == "Ada")
  }

  @Test("An empty file is replaced with the store.")
  func emptyFile() throws {
    try Data().write(to: place.url)
    try place.fill()
    #expect(try place.work { context, _ in try context.names() } == "Ada")
  }

  @Test("A file that is not a store is refused and left unchanged.")
  func otherFile() throws {
    try Data("a letter".utf8).write(to: place.url)
    #expect(place.refusal()?.domain == NSCocoaErrorDomain)
    #expect(try Data(contentsOf: place.url) == Data("a letter".utf8))
  }

  @Test("A directory that is not a store is refused and left unchanged.")
  func otherDirectory() throws {
    try FileManager.default.createDirectory(at: place.url, withIntermediateDirectories: false)
    try Data("a letter".utf8).write(to: place.url.appending(path: "letter"))
    #expect(place.refusal()?.domain == NSCocoaErrorDomain)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.url.path) == ["letter"])
  }

  @Test("A Cairn store that was not made by Core Data is refused and left unchanged.")
  func otherStore() throws {
    let store = try Store.open(at: place.url.path)
    try store.put([1], at: 1, in: store.keyspace("mine"))
    try store.close()
    #expect(place.refusal()?.code == NSPersistentStoreOpenError)
    let again = try Store.open(at: place.url.path)
    #expect(again.keyspaces.map(\.name) == ["mine"])
    try again.close()
  }

  @Test("A store that another process has open is refused, with the engine's error as the cause.")
  func locked() throws {
    try place.fill()
    let lock = try Environment.system.files.lock("\(place.url.path)/LOCK", owner: Array("somebody else".utf8))
    let error = try #require(place.refusal())
    #expect(error.domain == NSCocoaErrorDomain && error.code == NSPersistentStoreOpenError)
    #expect((error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == .locked)
    #expect(error.userInfo[NSFilePathErrorKey] as? String == place.url.path)
    withExtendedLifetime(lock) {}
  }

  @Test("A store that this process has open is shared.")
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

  @Test("Destroying a store removes its files, and succeeds if there are none.")
  func destroyed() throws {
    try place.fill()
    for _ in 0..<2 {
      try CairnIncrementalStore.destroyPersistentStore(at: place.url, options: nil)
      #expect(!FileManager.default.fileExists(atPath: place.url.path))
    }
  }

  @Test("Files that are not Cairn's, and stores in use, are not destroyed.")
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

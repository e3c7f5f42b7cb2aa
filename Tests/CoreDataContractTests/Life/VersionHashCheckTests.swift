import CoreData
import Testing

@Suite("The version hashes in a store's metadata", .anyStore)
struct VersionHashCheckTests {
  private let model = Town.model()
  private let backing = Backing.town()

  private func add(_ options: [AnyHashable: Any] = [:]) throws -> RecordingStore {
    try NSPersistentStoreCoordinator(managedObjectModel: model).add(RecordingStore.self, backing, options: options)
  }

  @Test("A store with the version hashes of the model is added.")
  func sameModel() throws {
    backing.metadata[NSStoreModelVersionHashesKey] = model.entityVersionHashesByName
    #expect(throws: Never.self) { try add() }
  }

  @Test("A store with the version hashes of another model is refused.")
  func otherModel() throws {
    backing.metadata[NSStoreModelVersionHashesKey] = ["Person": Data([1, 2, 3])]
    let error = thrown { try add() }
    #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134100)
  }

  @Test("An option permits a store with the version hashes of another model.")
  func ignored() throws {
    backing.metadata[NSStoreModelVersionHashesKey] = ["Person": Data([1, 2, 3])]
    #expect(throws: Never.self) { try add([NSIgnorePersistentStoreVersioningOption: true]) }
  }
}

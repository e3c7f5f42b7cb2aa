import Cairn
@testable import CairnIncrementalStore
import CoreData
import Testing

@Suite struct FailureTests {
  @Test(arguments: [
    (StoreError.Code.noSpace, CocoaError.fileWriteOutOfSpace.rawValue),
    (.noPermission, CocoaError.fileReadNoPermission.rawValue),
    (.notFound, CocoaError.fileReadNoSuchFile.rawValue), (.damaged, CocoaError.fileReadCorruptFile.rawValue),
    (.corrupted, CocoaError.fileReadCorruptFile.rawValue), (.locked, NSPersistentStoreOpenError),
    (.notAStore, NSPersistentStoreOpenError), (.newerFormat, NSPersistentStoreOpenError),
    (.poisoned, NSPersistentStoreSaveError), (.valueTooLarge, NSPersistentStoreSaveError),
    (.numbersUsedUp, NSPersistentStoreSaveError),
    (.inputOutput, NSPersistentStoreOperationError), (.alreadyExists, CocoaError.fileWriteFileExists.rawValue),
  ])
  func anErrorOfTheEngineIsOneOfCocoaWithTheEnginesBeneath(_ code: StoreError.Code, _ expected: Int) {
    let error = CairnFailure.make(StoreError(code, "what happened"), URL(filePath: "/store"))
    #expect(error.domain == NSCocoaErrorDomain && error.code == expected)
    #expect((error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code == code)
    #expect(error.localizedDescription.contains("/store") && error.localizedDescription.contains("what happened"))
  }

  @Test func aDamagedStoreIsRefusedWithItsCodeAndStaysAsItIs() throws {
    let library = Library()
    let writer = try library.coordinator()
    try writer.work { (context) throws in
      _ = context.insert("Book", ["title": "Emma"])
      try context.save()
    }
    try writer.close()
    let files = try FileManager.default.contentsOfDirectory(atPath: library.url.path)
    let name = try #require(files.first { $0.hasPrefix("MANIFEST") })
    let place = library.url.appending(path: name)
    var bytes = try Data(contentsOf: place)
    for number in 44..<bytes.count { bytes[number] ^= 0x55 }
    try bytes.write(to: place)
    #expect(code { _ = try library.coordinator() } == CocoaError.fileReadCorruptFile.rawValue)
    #expect(try Data(contentsOf: place) == bytes)
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    #expect(code { try coordinator.destroyPersistentStore(at: library.url, type: .cairn) } != nil)
    try coordinator.destroyPersistentStore(
      at: library.url, type: .cairn, options: [NSPersistentStoreForceDestroyOption: NSNumber(value: true)])
    #expect(!FileManager.default.fileExists(atPath: library.url.path))
  }
}

import CairnIncrementalStore
import Foundation
import OpenCoreData
import Testing

@Suite struct EmptyFileTests {
  private let url = FileManager.default.temporaryDirectory.appending(path: "empty file \(UUID().uuidString)")

  @Test("A store is made in place of an empty file, which stays if the store is only to be read.")
  func place() throws {
    defer { try? FileManager.default.removeItem(at: url) }
    try Data().write(to: url)
    CairnIncrementalStore.register()
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
    #expect(throws: (any Error).self) {
      try coordinator.addPersistentStore(type: .cairn, at: url, options: [NSReadOnlyPersistentStoreOption: true])
    }
    #expect(try Data(contentsOf: url).isEmpty)
    let store = try coordinator.addPersistentStore(type: .cairn, at: url)
    #expect(try url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true)
    try coordinator.remove(store)
  }
}

import CoreData
import Testing

@Suite("The metadata of a store", .anyStore)
struct MetadataTests {
  @Test("Metadata that are set are in memory at once, and in the store after the next save.")
  func savedLater() throws {
    let stack = try Stack<RecordingStore>()
    var metadata = stack.coordinator.metadata(for: stack.store)
    metadata["colour"] = "blue"
    stack.coordinator.setMetadata(metadata, for: stack.store)
    #expect(stack.coordinator.metadata(for: stack.store)["colour"] as? String == "blue")
    #expect(stack.backing.metadata["colour"] == nil)
    try stack.work { try $0.save() }
    #expect(stack.backing.metadata["colour"] as? String == "blue")
  }

  @Test("The metadata of a store that is not open are read and written at once, by its class.")
  func withoutStack() throws {
    let type = NSPersistentStore.StoreType(rawValue: "LabelledStore")
    NSPersistentStoreCoordinator.registerStoreClass(LabelledStore.self, type: type)
    let url = URL.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: url) }
    try NSPersistentStoreCoordinator.setMetadata(["colour": "blue"], type: type, at: url)
    let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
    #expect(metadata["colour"] as? String == "blue")
  }

  @Test("Reading and writing metadata throw the errors of the store's class.")
  func errors() {
    let type = NSPersistentStore.StoreType(rawValue: "LabelledStore")
    NSPersistentStoreCoordinator.registerStoreClass(LabelledStore.self, type: type)
    let url = URL(filePath: "/nowhere/\(UUID().uuidString)")
    #expect(thrown { try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url) } != nil)
  }
}

/// Keeps its metadata in a file, where they can be read without a stack.
private final class LabelledStore: RecordingStore {
  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try unsafe PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil) as! [String: Any]
  }

  override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
    try PropertyListSerialization.data(fromPropertyList: metadata ?? [:], format: .xml, options: 0).write(to: url)
  }
}

import CairnIncrementalStore
import CairnInspection
import OpenCoreData
import Testing

/// Migrations in stages.
///
/// The first version of the model has notes with a `text`; the second has their `size` as well; in the third it is
/// required and the text is gone, which cannot be inferred from the first; in the fourth there are tags.
@Suite("Staged migrations")
struct StagedMigrationTests {
  private let folder = Folder()
  private let versions: [NSManagedObjectModel]

  init() throws {
    let text = "<attribute name=\"text\" optional=\"YES\" attributeType=\"String\"/>"
    let size = "<attribute name=\"size\" optional=\"YES\" attributeType=\"Integer 64\"/>"
    let needed = "<attribute name=\"size\" attributeType=\"Integer 64\" defaultValueString=\"-1\"/>"
    let tag = "<entity name=\"Tag\"><attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/></entity>"
    versions = try [
      Fixtures.read("<model><entity name=\"Note\">", text, "</entity></model>"),
      Fixtures.read("<model><entity name=\"Note\">", text, size, "</entity></model>"),
      Fixtures.read("<model><entity name=\"Note\">", needed, "</entity></model>"),
      Fixtures.read("<model><entity name=\"Note\">", needed, "</entity>", tag, "</model>"),
    ]
    CairnIncrementalStore.register()
  }

  private final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "stages \(UUID().uuidString)")
    deinit { try? FileManager.default.removeItem(at: url) }
  }

  private func reference(_ version: Int) -> NSManagedObjectModelReference {
    let model = versions[version - 1]
    return NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
  }

  private func lightweight(_ numbers: Int...) -> NSLightweightMigrationStage {
    NSLightweightMigrationStage(numbers.map { versions[$0 - 1].versionChecksum })
  }

  /// The stage from the second version to the third, whose first handler fills sizes from texts.
  private func custom(_ from: Int = 2, _ to: Int = 3) -> NSCustomMigrationStage {
    let stage = NSCustomMigrationStage(migratingFrom: reference(from), to: reference(to))
    stage.label = "sizes"
    stage.willMigrateHandler = { manager, stage in
      #expect(stage.label == "sizes")
      try Self.forEachNote(manager) { note in
        let size = (note.value(forKey: "text") as? String)?.count ?? 0
        note.setValue(size, forKey: "size")
      }
    }
    return stage
  }

  private static func forEachNote(_ manager: NSStagedMigrationManager, _ body: (NSManagedObject) -> Void) throws {
    let context = try #require(manager.container).newBackgroundContext()
    try context.performAndWait {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
      request.sortDescriptors = [NSSortDescriptor(key: "size", ascending: true)]
      try context.fetch(request).forEach(body)
      try context.save()
    }
  }

  /// Opens the store with a version, and returns a value of each note.
  @discardableResult
  private func open(
    _ version: Int, _ stages: [NSMigrationStage]? = nil, _ key: String = "size", adding text: String? = nil
  ) throws -> [String] {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[version - 1])
    var options: [AnyHashable: Any] = [CairnDurabilityOption: "buffered"]
    if let stages { options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager(stages) }
    let store = try coordinator.addPersistentStore(type: .cairn, at: folder.url, options: options)
    defer { try? coordinator.remove(store) }
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      if let text {
        NSEntityDescription.insertNewObject(forEntityName: "Note", into: context).setValue(text, forKey: "text")
        try context.save()
      }
      #expect(store.metadata["NSStagedMigrationPendingVersion"] == nil)
      return try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Note"))
        .map { $0.value(forKey: key).map { "\($0)" } ?? "nil" }.sorted()
    }
  }

  private func fill() throws {
    try open(1, nil, "text", adding: "abc")
    try open(1, nil, "text", adding: "wxyz")
  }

  @Test("A store goes through the stages after its version, with the work of their handlers, and through none again.")
  func stages() throws {
    try fill()
    #expect(throws: (any Error).self) { try open(4) }
    let stages = [lightweight(1, 2), custom(), lightweight(3, 4)]
    #expect(try open(4, stages) == ["3", "4"])
    #expect(try open(4, stages) == ["3", "4"])
    #expect(try open(4) == ["3", "4"])
    #expect(try Verifier(at: folder.url.path).run().findings.map { "\($0)" } == [])
  }

  @Test(
    "A store of any version reaches any later one, whichever of the versions between have stages.",
    arguments: [
      (1, 2, "1 2"), (1, 3, "1 2>3"), (1, 4, "1 2>3 4"), (1, 3, "1>2 2>3"), (1, 4, "1>2 3,4"),
      (2, 4, "2>3 4"), (2, 3, "1,2 2>3 3"), (2, 4, "1 2>3 3>4"), (1, 4, "1,2 3,4"),
    ])
  func paths(_ from: Int, _ to: Int, _ path: String) throws {
    try fill()
    if from == 2 {
      #expect(try open(2, [lightweight(1, 2)]) == ["nil", "nil"])
    }
    let stages = path.split(separator: " ").map { part -> NSMigrationStage in
      let numbers = part.split { ",>".contains($0) }.compactMap { Int($0) }
      guard part.contains(">") else {
        return NSLightweightMigrationStage(numbers.map { versions[$0 - 1].versionChecksum })
      }
      let stage =
        numbers == [2, 3]
        ? custom()
        : NSCustomMigrationStage(
          migratingFrom: reference(numbers[0]), to: reference(numbers[1]))
      return stage
    }
    let sizes = path.contains("2>3") ? ["3", "4"] : to > 2 ? ["-1", "-1"] : ["nil", "nil"]
    #expect(try open(to, stages) == sizes)
  }

  @Test("A store whose version no stage names, or that a stage has already passed, is left as it is.")
  func refusals() throws {
    try fill()
    #expect(code { try open(4, [custom(), lightweight(3, 4)]) } == 134504)
    #expect(code { try open(4, [lightweight(3, 4), custom(1, 2)]) } == 134506)
    #expect(try open(1, nil, "text") == ["abc", "wxyz"])
  }

  private struct Interruption: Error {}

  @Test("A handler that has returned is not called again, although the store has not migrated.")
  func returned() throws {
    try fill()
    let refused = try Fixtures.read(
      "<model><entity name=\"Note\"><attribute name=\"must\" attributeType=\"Date\"/></entity></model>")
    let stage = NSCustomMigrationStage(
      migratingFrom: reference(2),
      to: NSManagedObjectModelReference(model: refused, versionChecksum: refused.versionChecksum))
    var calls = 0
    stage.willMigrateHandler = { _, _ in calls += 1 }
    for _ in 0..<2 { #expect(code { try open(4, [lightweight(1, 2), stage, lightweight(4)]) } == 134190) }
    #expect(calls == 1)
  }

  @Test("The last handler of the last stage is called again as well, although the store has the version of the model.")
  func resumingAtTheEnd() throws {
    try fill()
    let stage = custom()
    stage.didMigrateHandler = { _, _ in throw Interruption() }
    #expect(throws: Interruption.self) { try open(3, [lightweight(1, 2), stage]) }
    stage.didMigrateHandler = { manager, _ in
      try Self.forEachNote(manager) { $0.setValue(($0.value(forKey: "size") as? Int ?? 0) + 1, forKey: "size") }
    }
    #expect(try open(3, [lightweight(1, 2), stage]) == ["4", "5"])
    #expect(try open(3, [lightweight(1, 2), stage]) == ["4", "5"])
  }

  @Test("A handler that fails ends the migration, and the next migration goes on with that handler.")
  func resuming() throws {
    try fill()
    let stage = custom()
    let work = stage.willMigrateHandler
    stage.willMigrateHandler = { _, _ in throw Interruption() }
    #expect(throws: Interruption.self) { try open(4, [lightweight(1, 2), stage, lightweight(4)]) }
    // The stage begins with the second version.
    #expect(try open(2) == ["nil", "nil"])
    stage.willMigrateHandler = work
    stage.didMigrateHandler = { manager, _ in
      var count = 0
      try Self.forEachNote(manager) { note in
        count += 1
        note.setValue(count * 10, forKey: "size")
      }
      throw Interruption()
    }
    for _ in 0..<2 {
      #expect(throws: Interruption.self) { try open(4, [lightweight(1, 2), stage, lightweight(4)]) }
    }
    // The store has migrated, and the last handler waits.
    stage.willMigrateHandler = { _, _ in Issue.record("The handler has returned before.") }
    stage.didMigrateHandler = { manager, _ in
      try Self.forEachNote(manager) { $0.setValue(($0.value(forKey: "size") as? Int ?? 0) + 1, forKey: "size") }
    }
    #expect(try open(4, [lightweight(1, 2), stage, lightweight(4)]) == ["11", "21"])
    #expect(try open(4, [lightweight(1, 2), stage, lightweight(4)]) == ["11", "21"])
  }
}

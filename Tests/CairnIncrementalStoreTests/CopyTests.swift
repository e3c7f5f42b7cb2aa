import Cairn
import CairnIncrementalStore
import CoreData
import Testing

/// Replacing, destroying and migrating stores.
@Suite struct CopyTests {
  private let library = Library()
  private let other = Library()

  private func fill(_ library: Library, _ titles: [String]) throws -> [NSManagedObjectID] {
    let writer = try library.coordinator()
    defer { try? writer.close() }
    return try writer.work { (context) throws in
      let shelf = context.insert("Shelf")
      let books = titles.map { context.insert("Book", ["title": $0]) }
      for book in books {
        book.setValue(shelf, forKey: "shelf")
        book.setValue(shelf, forKey: "rowOf")
        book.mutableSetValue(forKey: "tags").add(shelf)
      }
      try context.save()
      return books.map(\.objectID)
    }
  }

  private func titles(_ library: Library) throws -> Set<String> {
    let reader = try library.coordinator()
    defer { try? reader.close() }
    return try reader.work { (context) throws in
      let shelf = try #require(try context.all("Shelf").first)
      let ordered = (shelf.value(forKey: "row") as! NSOrderedSet).array as! [NSManagedObject]
      let (books, tagged) = (shelf.value(forKey: "books") as! NSSet, shelf.value(forKey: "tagged") as! NSSet)
      #expect(books.count == ordered.count && tagged.count == ordered.count)
      return Set(ordered.map { $0.value(forKey: "title") as! String })
    }
  }

  private func coordinator() -> NSPersistentStoreCoordinator {
    CairnIncrementalStore.register()
    return NSPersistentStoreCoordinator(managedObjectModel: Library.model())
  }

  @Test func aReplacedStoreHasTheRowsAndIdentifiersOfTheOther() throws {
    let ids = try fill(library, ["a", "b", "c"])
    _ = try fill(other, ["old"])
    try coordinator().replacePersistentStore(at: other.url, withPersistentStoreFrom: library.url, type: .cairn)
    #expect(try titles(other) == ["a", "b", "c"])
    #expect(try titles(library) == ["a", "b", "c"])
    let reader = try other.coordinator()
    try reader.work { (context) throws in
      let books = try context.all("Book")
      #expect(Set(books.map(\.objectID)) == Set(ids))
      let node = try reader.store.newValuesForObject(with: ids[0], with: context)
      #expect(node.version == 1)
    }
  }

  @Test func neitherACopyNorItsOriginalGivesANumberOfTheOther() throws {
    var given = Set(try fill(library, ["a"]))
    try coordinator().replacePersistentStore(at: other.url, withPersistentStoreFrom: library.url, type: .cairn)
    for library in [library, other, library, other] {
      let more = try fill(library, [UUID().uuidString, UUID().uuidString])
      #expect(given.isDisjoint(with: more))
      given.formUnion(more)
    }
  }

  @Test func aRestoredStoreGivesNoNumberOfTheOriginal() throws {
    var given = Set(try fill(library, ["a"]))
    let backup = library.url.path + " backup"
    let store = try Store.open(at: library.url.path)
    try store.backup(to: backup)
    try store.close()
    given.formUnion(try fill(library, ["b"]))
    try Store.restore(from: backup, to: other.url.path)
    #expect(try titles(other) == ["a"])
    for library in [other, library, other, library] {
      let more = try fill(library, [UUID().uuidString, UUID().uuidString])
      #expect(given.isDisjoint(with: more))
      given.formUnion(more)
    }
    try FileManager.default.removeItem(atPath: backup)
  }

  @Test func aBackupIsReadAndReplacesAStoreAndIsNotOpenedForWriting() throws {
    _ = try fill(library, ["a", "b"])
    let backup = URL(filePath: library.url.path + " backup")
    defer { try? FileManager.default.removeItem(at: backup) }
    let store = try Store.open(at: library.url.path)
    try store.backup(to: backup.path)
    try store.close()
    #expect(
      code { _ = try coordinator().addPersistentStore(type: .cairn, at: backup) } == NSPersistentStoreOpenError)
    _ = try coordinator().addPersistentStore(
      type: .cairn, at: backup, options: [NSReadOnlyPersistentStoreOption: true])
    _ = try fill(library, ["c"])
    try coordinator().replacePersistentStore(at: library.url, withPersistentStoreFrom: backup, type: .cairn)
    #expect(try titles(library) == ["a", "b"])
  }

  @Test func aStoreInUseIsNeitherReplacedNorDestroyed() throws {
    _ = try fill(library, ["a"])
    let user = try other.coordinator()
    #expect(
      code {
        try coordinator().replacePersistentStore(at: other.url, withPersistentStoreFrom: library.url, type: .cairn)
      }
        == NSPersistentStoreOpenError)
    #expect(
      code { try coordinator().destroyPersistentStore(at: other.url, type: .cairn) } == NSPersistentStoreOpenError)
    try user.close()
    try coordinator().destroyPersistentStore(at: other.url, type: .cairn)
    #expect(!FileManager.default.fileExists(atPath: other.url.path))
    try coordinator().destroyPersistentStore(at: other.url, type: .cairn)
  }

  @Test func aStoreInUseUnderAnotherPathIsNotDestroyed() throws {
    let ids = try fill(library, ["a"])
    let user = try library.coordinator()
    let link = other.url
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: library.url)
    #expect(code { try coordinator().destroyPersistentStore(at: link, type: .cairn) } == NSPersistentStoreOpenError)
    try user.work { (context) throws in
      let books = try context.all("Book")
      #expect(books.map(\.objectID) == ids)
      books[0].setValue("b", forKey: "title")
      try context.save()
    }
  }

  @Test func aStoreOfTheEngineThatIsOpenIsNeitherReplacedNorDestroyed() throws {
    _ = try fill(library, ["a"])
    _ = try fill(other, ["b"])
    let store = try Store.open(at: other.url.path)
    let coordinator = coordinator()
    #expect(code { try coordinator.destroyPersistentStore(at: other.url, type: .cairn) } == NSPersistentStoreOpenError)
    #expect(
      code { try coordinator.replacePersistentStore(at: other.url, withPersistentStoreFrom: library.url, type: .cairn) }
        == NSPersistentStoreOpenError)
    #expect(store.keyspaces.count > 1)
    try store.write(durability: .buffered) { try $0.put("c", at: .integer(1), in: try store.keyspace("more")) }
    try store.close()
    #expect(try titles(other) == ["b"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: other.url.path).filter { $0.hasPrefix(".") }.isEmpty)
  }

  @Test func aDamagedStoreIsDestroyedByForceUnlessItIsInUse() throws {
    _ = try fill(library, ["a"])
    let user = try Store.open(at: library.url.path)
    let manifest = library.url.appending(path: "MANIFEST")
    let damaged = try Data(contentsOf: manifest).dropLast(1) + [7]
    try damaged.write(to: manifest)
    func destroy(isForced: Bool) throws {
      try coordinator().destroyPersistentStore(
        at: library.url, type: .cairn,
        options: isForced ? [NSPersistentStoreForceDestroyOption: NSNumber(value: true)] : nil)
    }
    #expect(code { try destroy(isForced: true) } == NSPersistentStoreOpenError)
    try? user.close()
    try damaged.write(to: manifest)
    #expect(code { try destroy(isForced: false) } == CocoaError.fileReadCorruptFile.rawValue)
    #expect(FileManager.default.fileExists(atPath: manifest.path))
    try Data("letter".utf8).write(to: manifest)
    #expect(code { try destroy(isForced: true) } == NSPersistentStoreOpenError)
    try damaged.write(to: manifest)
    try destroy(isForced: true)
    #expect(!FileManager.default.fileExists(atPath: library.url.path))
  }

  @Test func anEmptyFileStaysIfItCannotBeReplaced() throws {
    try Data().write(to: other.url)
    #expect(throws: (any Error).self) {
      try coordinator().replacePersistentStore(at: other.url, withPersistentStoreFrom: library.url, type: .cairn)
    }
    #expect(try Data(contentsOf: other.url).isEmpty)
    _ = try fill(library, ["a"])
    try coordinator().replacePersistentStore(at: other.url, withPersistentStoreFrom: library.url, type: .cairn)
    #expect(try titles(other) == ["a"])
  }

  @Test func whatIsNoStoreIsNotDestroyed() throws {
    try FileManager.default.createDirectory(at: other.url, withIntermediateDirectories: true)
    let file = other.url.appending(path: "letter.txt")
    try Data("dear".utf8).write(to: file)
    #expect(
      code { try coordinator().destroyPersistentStore(at: other.url, type: .cairn) } == NSPersistentStoreOpenError)
    #expect(try Data(contentsOf: file) == Data("dear".utf8))
  }

  @Test func aSourceInUseIsCopiedWithWhatWasSavedLast() throws {
    let writer = try library.coordinator()
    try writer.work { (context) throws in
      context.insert("Book", ["title": "late"]).setValue(context.insert("Shelf"), forKey: "rowOf")
      try context.save()
    }
    try coordinator().replacePersistentStore(at: other.url, withPersistentStoreFrom: library.url, type: .cairn)
    let reader = try other.coordinator()
    #expect(try reader.work { try $0.all("Book") }.count == 1)
    #expect(try writer.work { try $0.all("Book") }.count == 1)
  }

  @Test func aStoreInMemoryMigratesToDiskAndBack() throws {
    let coordinator = coordinator()
    let memory = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let shelf = context.insert("Shelf")
      for title in ["a", "b"] { context.insert("Book", ["title": title]).setValue(shelf, forKey: "rowOf") }
      try context.save()
      context.reset()
    }
    let stored = try coordinator.migratePersistentStore(memory, to: library.url, type: .cairn)
    #expect(stored is CairnIncrementalStore)
    _ = try coordinator.migratePersistentStore(
      stored, to: URL(filePath: "/dev/null"), type: NSPersistentStore.StoreType(rawValue: NSInMemoryStoreType))
    try context.performAndWait {
      let shelf = try #require(try context.all("Shelf").first)
      let row = (shelf.value(forKey: "row") as! NSOrderedSet).array as! [NSManagedObject]
      #expect(Set(row.map { $0.value(forKey: "title") as! String }) == ["a", "b"])
    }
    let reader = try library.coordinator()
    #expect(try reader.work { try $0.all("Book") }.count == 2)
  }

  // MARK: In parts

  private func fillLarge(_ library: Library) throws {
    _ = try fill(library, (0..<2500).map { "\($0)" })
  }

  /// Migrates the store of `library` to the location of `other`.
  private func migrate() throws {
    let coordinator = coordinator()
    let store = try coordinator.addPersistentStore(type: .cairn, at: library.url)
    try coordinator.remove(try coordinator.migratePersistentStore(store, to: other.url, type: .cairn))
  }

  @Test func theProgressOfAThreadCountsCopiedObjects() throws {
    try fillLarge(library)
    let progress = Progress(totalUnitCount: 10)
    progress.becomeCurrent(withPendingUnitCount: 10)
    try migrate()
    progress.resignCurrent()
    #expect(progress.fractionCompleted == 1)
    #expect(try titles(other).count == 2500)
  }

  @Test func aCancelledMigrationLeavesTheOldStoreAndNoNewOne() throws {
    try fillLarge(library)
    let progress = Progress(totalUnitCount: 10)
    progress.cancel()
    progress.becomeCurrent(withPendingUnitCount: 10)
    #expect(code { try migrate() } == NSMigrationCancelledError)
    progress.resignCurrent()
    #expect(!FileManager.default.fileExists(atPath: other.url.path))
    #expect(try titles(library).count == 2500)
  }

  @Test func anIncompleteCopyIsNotOpenedAndIsReplacedByTheNextOne() throws {
    _ = try fill(library, ["a", "b"])
    _ = try fill(other, ["c"])
    let type = NSPersistentStore.StoreType.cairn
    try NSPersistentStoreCoordinator.setMetadata(
      ["OpenCoreDataIncompleteCopy": true], type: type, at: other.url)
    #expect(code { try coordinator().addPersistentStore(type: type, at: other.url) } == NSPersistentStoreOpenError)
    try migrate()
    #expect(try titles(other) == ["a", "b"])
    #expect(code { try migrate() } == NSPersistentStoreOpenError)
  }
}

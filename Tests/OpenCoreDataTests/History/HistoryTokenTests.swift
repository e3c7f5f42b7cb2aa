import IncrementalStore
import OpenCoreData
import Testing

@Suite("Tokens of persistent history")
struct HistoryTokenTests {
  @Test("A token is archived and read back.")
  func archived() throws {
    let store = TrackedStore(.rows)
    let context = try store.open()
    try context.make("Item")
    let token = try #require(context.token)
    let data = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
    let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSPersistentHistoryToken.self, from: data))
    #expect(read == token && read.hash == token.hash && !(read === token))
    try context.make("Item")
    #expect(try context.numbers(after: read) == [2])
  }

  @Test("A token of another store is refused.", arguments: TrackedStore.Kind.allCases)
  func foreign(_ kind: TrackedStore.Kind) throws {
    let (store, other) = (TrackedStore(kind), TrackedStore(kind))
    let (context, foreign) = (try store.open(), try other.open())
    try context.make("Item")
    try foreign.make("Item")
    #expect(code { try context.numbers(after: foreign.token) } == NSPersistentStoreOperationError)
  }

  @Test(
    "Deleting history before a token keeps its transaction, and earlier tokens expire.",
    arguments: TrackedStore.Kind.allCases)
  func deletion(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    var tokens: [NSPersistentHistoryToken] = [try #require(context.token)]
    for _ in 0..<4 {
      try context.make("Item")
      tokens.append(try #require(context.token))
    }
    #expect(try context.history(.deleteHistory(before: nil as NSPersistentHistoryToken?)) == true)
    #expect(try context.transactions().count == 4)
    #expect(try context.history(.deleteHistory(before: tokens[3]), .count) == 2)
    #expect(try context.transactions().map(\.transactionNumber) == [3, 4])
    for token in tokens[..<2] {
      #expect(code { try context.numbers(after: token) } == NSPersistentHistoryTokenExpiredError)
    }
    // Whoever has read up to the last deleted transaction has missed nothing.
    #expect(try context.numbers(after: tokens[2]) == [3, 4])
    #expect(try context.numbers(after: tokens[3]) == [4])
    let last = try #require(try context.transactions().last)
    #expect(try context.history(.deleteHistory(before: last), .count) == 1)
    #expect(try context.history(.deleteHistory(before: .distantFuture), .count) == 1)
    #expect(try context.transactions() == [])
    #expect(try context.numbers(after: tokens[4]) == [])
    #expect(context.token == tokens[4])
    try context.make("Item")
    #expect(try context.numbers(after: tokens[4]) == [5])
    #expect(code { try context.numbers(after: tokens[3]) } == NSPersistentHistoryTokenExpiredError)
    try store.check()
  }

  @Test("Transactions that a predicate selects are deleted.", arguments: TrackedStore.Kind.allCases)
  func selectiveDeletion(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    var tokens: [NSPersistentHistoryToken] = []
    for author in ["a", "b", "a", "b"] {
      context.transactionAuthor = author
      try context.make("Item")
      tokens.append(try #require(context.token))
    }
    let request = NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture)
    request.fetchRequest = NSPersistentHistoryTransaction.fetchRequest
    request.fetchRequest?.predicate = NSPredicate(format: "author == 'a'")
    request.fetchRequest?.fetchLimit = 1
    #expect(code { try context.history(request, .count) as Int } == NSCoreDataError)
    request.fetchRequest?.fetchLimit = 0
    #expect(code { try context.history(request, .objectIDs) as [NSManagedObjectID] } == NSCoreDataError)
    #expect(try context.history(request, .count) == 2)
    #expect(try context.transactions().map(\.transactionNumber) == [2, 4])
    #expect(code { try context.numbers(after: tokens[1]) } == NSPersistentHistoryTokenExpiredError)
    #expect(try context.numbers(after: tokens[2]) == [4])
  }

  @Test(
    "A store keeps as many transactions, and for as long, as its options say.",
    arguments: TrackedStore.Kind.allCases)
  func limits(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let first = try store.open([HistoryMaximumCountOption: 10])
    for _ in 0..<70 { try first.make("Item") }
    func waitForUpkeep(_ context: NSManagedObjectContext) throws {
      try #require(context.persistentStoreCoordinator?.persistentStores.first as? RowIncrementalStore)
        .waitForHistoryUpkeep()
    }
    try waitForUpkeep(first)
    // Up to six more were saved before they were counted.
    let kept = try first.transactions().map(\.transactionNumber)
    #expect((55...61).contains(kept[0]) && kept == Array(kept[0]...70))
    store.close(first.persistentStoreCoordinator)
    let second = try store.open([HistoryMaximumAgeOption: 0])
    try waitForUpkeep(second)
    #expect(try second.transactions() == [])
    store.close(second.persistentStoreCoordinator)
    let third = try store.open([HistoryMaximumAgeOption: 3600, HistoryMaximumCountOption: 5])
    try third.make("Item")
    try waitForUpkeep(third)
    #expect(try third.transactions().map(\.transactionNumber) == [71])
    try store.check()
  }

  @Test("History is kept while a store is closed.", arguments: TrackedStore.Kind.allCases)
  func reopening(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let first = try store.open()
    try first.make("Item")
    let token = first.token
    try first.make("Item")
    store.close(first.persistentStoreCoordinator)
    let second = try store.open([NSReadOnlyPersistentStoreOption: true])
    #expect(try second.numbers(after: token) == [2])
    #expect(
      code { try second.history(.deleteHistory(before: .distantFuture)) as Bool } == NSPersistentStoreSaveError)
    store.close(second.persistentStoreCoordinator)
    let third = try store.open()
    try third.make("Item")
    #expect(try third.numbers(after: token) == [2, 3])
  }

  @Test(
    "A store that is opened without history records nothing, and makes tokens expire if it saves.",
    arguments: TrackedStore.Kind.allCases)
  func interrupted(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let untracked = try store.open(history: false)
    try untracked.make("Item")
    #expect(untracked.token == nil)
    #expect(try untracked.transactions() == [])
    let tracked = try store.open()
    let beginning = tracked.token
    try tracked.make("Item")
    #expect(try tracked.numbers(after: beginning) == [1])
    let token = tracked.token
    for _ in 0..<3 { try untracked.make("Item") }
    #expect(code { try tracked.numbers(after: token) } == NSPersistentHistoryTokenExpiredError)
    let later = tracked.token
    try tracked.make("Item")
    #expect(try tracked.numbers(after: later) == [5])
    #expect(code { try tracked.numbers(after: beginning) } == NSPersistentHistoryTokenExpiredError)
    #expect(try tracked.transactions().map(\.transactionNumber) == [1, 5])
    try untracked.make("Item")
    #expect(code { try tracked.numbers(after: later) } == NSPersistentHistoryTokenExpiredError)
    try store.check()
  }

  @Test("A store that never recorded history has nothing of it.", arguments: TrackedStore.Kind.allCases)
  func untracked(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open(history: false)
    try context.make("Item")
    let rows = try #require(
      (context.persistentStoreCoordinator?.persistentStores.first as? RowIncrementalStore)?.rowStore)
    let snapshot = try rows.snapshot()
    #expect(try snapshot.row(.integer(4), in: 0) == nil)
    #expect(try snapshot.count(in: .max) == 0)
  }

  @Test("A token expires when an earlier state of the store is put back.")
  func restored() throws {
    let store = TrackedStore(.cairn)
    let backup = store.url.appendingPathExtension("backup")
    defer { try? FileManager.default.removeItem(at: backup) }
    func make(_ count: Int) throws -> NSPersistentHistoryToken? {
      let context = try store.open()
      defer { store.close(context.persistentStoreCoordinator) }
      for _ in 0..<count { try context.make("Item") }
      return context.token
    }
    let shared = try make(2)
    try FileManager.default.copyItem(at: store.url, to: backup)
    let lost = try make(2)
    try FileManager.default.removeItem(at: store.url)
    try FileManager.default.copyItem(at: backup, to: store.url)
    let context = try store.open()
    #expect(code { try context.numbers(after: lost) } == NSPersistentHistoryTokenExpiredError)
    for _ in 0..<3 { try context.make("Item") }
    // By now another transaction has the number.
    #expect(code { try context.numbers(after: lost) } == NSPersistentHistoryTokenExpiredError)
    #expect(try context.numbers(after: shared) == [3, 4, 5])
  }

  @Test("History is read with the names of a newer model.", arguments: TrackedStore.Kind.allCases)
  func migrated(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let first = try store.open()
    let item = try first.make("Item", ["name": "a", "code": "c"])
    try first.change(item, ["name": "b"])
    let box = try first.make("Box")
    try first.remove(item)
    try first.remove(box)
    let token = first.token
    let uri = item.objectID.uriRepresentation().lastPathComponent
    store.close(first.persistentStoreCoordinator)
    let model = TrackedStore.makeModel()
    let thing = try #require(model.entitiesByName["Item"])
    (thing.name, thing.renamingIdentifier) = ("Thing", "Item")
    let (title, code) = (try #require(thing.attributesByName["name"]), try #require(thing.attributesByName["code"]))
    (title.name, title.renamingIdentifier) = ("title", "name")
    (code.name, code.renamingIdentifier) = ("sign", "code")
    thing.properties = thing.properties.filter { $0.name != "box" }
    model.entities = model.entities.filter { $0.name != "Box" }
    let second = try store.open(
      [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true], model: model)
    #expect(try second.numbers(after: token) == [])
    let changes = try second.transactions().map { $0.changes ?? [] }
    #expect(changes.map(\.count) == [1, 1, 0, 1, 0])
    #expect(changes[1].first?.updatedProperties?.map(\.name) == ["title"])
    #expect(changes[3].first?.tombstone as? [String: String] == ["sign": "c"])
    #expect(changes[3].first?.changedObjectID.uriRepresentation().lastPathComponent == uri)
    #expect(changes[3].first?.changedObjectID.entity.name == "Thing")
  }
}

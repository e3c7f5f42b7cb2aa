import CairnIncrementalStore
import OpenCoreData
import Synchronization
import Testing

@Suite("Persistent history")
struct HistoryTests {
  @Test("A save is a transaction with the changes of its objects.", arguments: TrackedStore.Kind.allCases)
  func saves(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    (context.name, context.transactionAuthor) = ("editor", "ada")
    let before = Date()
    let item = try context.make("Item", ["name": "pen", "code": "p1"])
    try context.change(item, ["name": "pencil"])
    try context.remove(item)
    let found = try context.transactions()
    #expect(found.map(\.transactionNumber) == [1, 2, 3])
    for transaction in found {
      #expect(transaction.author == "ada" && transaction.contextName == "editor")
      #expect(transaction.processID == "\(ProcessInfo.processInfo.processIdentifier)")
      #expect(!transaction.bundleID.isEmpty)
      #expect(transaction.storeID == context.persistentStoreCoordinator?.persistentStores.first?.identifier)
      #expect((before...Date()).contains(transaction.timestamp))
    }
    let changes = found.flatMap { $0.changes ?? [] }
    #expect(changes.map(\.changeType) == [.insert, .update, .delete])
    #expect(changes.map(\.changeID) == [0, 1, 2])
    #expect(changes.allSatisfy { $0.changedObjectID == item.objectID })
    #expect(changes.map { $0.updatedProperties?.map(\.name) } == [nil, ["name"], nil])
    #expect(changes.map { $0.tombstone as? [String: String] } == [nil, nil, ["code": "p1"]])
    #expect(changes.map { $0.transaction?.transactionNumber } == [1, 2, 3])
    try store.check()
  }

  @Test("A save without changes is no transaction.", arguments: TrackedStore.Kind.allCases)
  func empty(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    #expect(try context.numbers(after: nil) == [])
    try context.performAndWait { try context.save() }
    let coordinator = try #require(context.persistentStoreCoordinator)
    coordinator.setMetadata(["note": "new"], for: coordinator.persistentStores[0])
    try context.performAndWait { try context.save() }
    #expect(try context.transactions().isEmpty)
  }

  @Test("Changed relationships are among the changed properties of both ends.", arguments: TrackedStore.Kind.allCases)
  func relationships(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    let (item, box, tag) = (try context.make("Item"), try context.make("Box"), try context.make("Tag"))
    func changed() throws -> [String: [String]] {
      let last = try #require(try context.transactions().last?.changes)
      return Dictionary(
        uniqueKeysWithValues: last.map { ($0.changedObjectID.entity.name!, ($0.updatedProperties ?? []).map(\.name)) })
    }
    try context.change(item, ["box": box])
    #expect(try changed() == ["Item": ["box"], "Box": ["items"]])
    try context.change(tag, ["tagged": Set([item])])
    #expect(try changed() == ["Item": ["tags"], "Tag": ["tagged"]])
    try context.remove(item)
    #expect(try changed() == ["Item": [], "Tag": ["tagged"], "Box": ["items"]])
  }

  @Test("A batch request is a transaction.", arguments: TrackedStore.Kind.allCases)
  func batches(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    context.transactionAuthor = "import"
    let box = try context.make("Box")
    let update = NSBatchUpdateRequest(entityName: "Item")
    update.propertiesToUpdate = ["name": "new", "box": box]
    let delete = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<any NSFetchRequestResult>(entityName: "Item"))
    try context.performAndWait {
      _ = try context.execute(
        NSBatchInsertRequest(entityName: "Item", objects: (1...3).map { ["code": "c\($0)"] }))
      _ = try context.execute(update)
      _ = try context.execute(delete)
      // Nothing is left to update.
      _ = try context.execute(update)
    }
    let found = try context.transactions().dropFirst()
    #expect(found.map(\.author) == ["import", "import", "import"])
    let changes = found.map { ($0.changes ?? []).filter { $0.changedObjectID.entity.name == "Item" } }
    #expect(
      changes.map { $0.map(\.changeType) } == [
        [.insert, .insert, .insert], [.update, .update, .update], [.delete, .delete, .delete],
      ])
    #expect(changes[1].allSatisfy { Set($0.updatedProperties!.map(\.name)) == ["name", "box"] })
    #expect(changes[2].map { $0.tombstone?["code"] as? String } == ["c1", "c2", "c3"])
    let boxes = found.flatMap { $0.changes ?? [] }.filter { $0.changedObjectID == box.objectID }
    #expect(boxes.map { $0.updatedProperties?.map(\.name) } == [["items"], ["items"]])
    try store.check()
  }

  @Test("A failed save is no transaction.", arguments: TrackedStore.Kind.allCases)
  func failed(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let (mine, theirs) = (try store.open(), try store.open())
    let item = try mine.make("Item", ["name": "a"])
    let token = mine.token
    let other = theirs.performAndWait {
      let other = theirs.object(with: item.objectID)
      _ = other.value(forKey: "name")
      return other
    }
    try mine.change(item, ["name": "b"])
    #expect(code { try theirs.change(other, ["name": "c"]) } == NSManagedObjectMergeError)
    #expect(try mine.numbers(after: token) == [2])
    theirs.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    try theirs.performAndWait { try theirs.save() }
    #expect(try mine.numbers(after: token) == [2, 3])
  }

  // MARK: Requests

  @Test("Transactions are fetched after a token, a transaction and a date.", arguments: TrackedStore.Kind.allCases)
  func bounds(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    let beginning = try #require(context.token)
    for name in ["a", "b", "c"] { try context.make("Item", ["name": name]) }
    let all = try context.transactions()
    #expect(try context.numbers(after: nil) == [1, 2, 3])
    #expect(try context.numbers(after: beginning) == [1, 2, 3])
    #expect(try context.numbers(after: all[0].token) == [2, 3])
    #expect(try context.numbers(after: context.token) == [])
    #expect(context.token == all[2].token)
    let afterSecond: [NSPersistentHistoryTransaction] = try context.history(.fetchHistory(after: all[1]))
    #expect(afterSecond == [all[2]])
    let afterTime: [NSPersistentHistoryTransaction] = try context.history(.fetchHistory(after: all[1].timestamp))
    #expect(afterTime == [all[2]])
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: all[0].token)
    #expect(request.token == all[0].token && request.resultType == .transactionsAndChanges)
  }

  @Test("A result has what its type says.", arguments: TrackedStore.Kind.allCases)
  func resultTypes(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    let item = try context.make("Item", ["name": "a"])
    try context.change(item, ["name": "b"])
    let tag = try context.make("Tag")
    #expect(try context.history(.fetchHistory(after: .distantPast), .statusOnly) == true)
    #expect(try context.history(.fetchHistory(after: .distantPast), .count) == 3)
    #expect(try context.history(.fetchHistory(after: .distantPast), .objectIDs) == [item.objectID, tag.objectID])
    let transactions: [NSPersistentHistoryTransaction] = try context.history(
      .fetchHistory(after: .distantPast), .transactionsOnly)
    #expect(transactions.map(\.transactionNumber) == [1, 2, 3] && transactions.allSatisfy { $0.changes == nil })
    let changes: [NSPersistentHistoryChange] = try context.history(.fetchHistory(after: .distantPast), .changesOnly)
    #expect(changes.map(\.changeType) == [.insert, .update, .insert])
  }

  @Test("A fetch request selects transactions and changes.", arguments: TrackedStore.Kind.allCases)
  func fetchRequests(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    context.transactionAuthor = "app"
    let item = try context.make("Item", ["name": "a"])
    context.transactionAuthor = "sync"
    try context.make("Item", ["name": "b"])
    context.transactionAuthor = nil
    try context.change(item, ["name": "c"])

    func numbers(_ format: String, _ arguments: Any...) throws -> [Int64] {
      let fetch = try #require(NSPersistentHistoryTransaction.fetchRequest)
      fetch.predicate = NSPredicate(format: format, argumentArray: arguments)
      let found: [NSPersistentHistoryTransaction] = try context.history(.fetchHistory(withFetch: fetch))
      return found.map(\.transactionNumber)
    }
    #expect(try numbers("author != %@", "app") == [2, 3])
    #expect(try numbers("author == nil") == [3])
    #expect(try numbers("transactionNumber > 1 AND author IN {'app', 'sync'}") == [2])
    #expect(try numbers("timestamp > %@", Date.distantPast) == [1, 2, 3])

    let fetch = NSFetchRequest<NSPersistentHistoryChange>()
    fetch.entity = NSPersistentHistoryChange.entityDescription(with: context)
    fetch.predicate = NSPredicate(format: "changedObjectID == %@", item.objectID)
    let changes: [NSPersistentHistoryChange] = try context.history(.fetchHistory(withFetch: fetch))
    #expect(changes.map(\.changeType) == [.insert, .update])
    #expect(try context.history(.fetchHistory(withFetch: fetch), .count) == 2)
    fetch.predicate = NSPredicate(format: "transaction.author == 'sync'")
    #expect(try context.history(.fetchHistory(withFetch: fetch), .count) == 1)

    let window = try #require(NSPersistentHistoryTransaction.fetchRequest)
    (window.fetchOffset, window.fetchLimit) = (1, 1)
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: try context.transactions()[0].token)
    request.fetchRequest = window
    let found: [NSPersistentHistoryTransaction] = try context.history(request)
    #expect(found.map(\.transactionNumber) == [3])
  }

  @Test("A request that cannot be answered is refused.", arguments: TrackedStore.Kind.allCases)
  func refused(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let context = try store.open()
    let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
    let sorted = try #require(NSPersistentHistoryTransaction.fetchRequest)
    sorted.sortDescriptors = [NSSortDescriptor(key: "timestamp", ascending: false)]
    for fetch in [sorted, NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")] {
      request.fetchRequest = fetch
      #expect(code { try context.performAndWait { try context.execute(request) } } == NSCoreDataError)
    }
    let memory = NSManagedObjectContext(.privateQueue)
    memory.persistentStoreCoordinator = NSPersistentStoreCoordinator(managedObjectModel: TrackedStore.makeModel())
    _ = try memory.persistentStoreCoordinator?.addPersistentStore(
      ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: [NSPersistentHistoryTrackingKey: true])
    #expect(memory.token == nil)
    #expect(code { try memory.transactions() } == NSPersistentStoreUnsupportedRequestTypeError)
  }

  // MARK: Several contexts

  @Test("A context merges transactions of another coordinator.", arguments: TrackedStore.Kind.allCases)
  func merging(_ kind: TrackedStore.Kind) throws {
    let store = TrackedStore(kind)
    let (mine, theirs) = (try store.open(), try store.open())
    let item = try mine.make("Item", ["name": "v1"])
    let gone = try mine.make("Item", ["name": "gone"])
    let token = mine.token
    try theirs.change(theirs.mirror(of: item), ["name": "v2"])
    try theirs.remove(theirs.mirror(of: gone))
    #expect(mine.performAndWait { item.value(forKey: "name") } as? String == "v1")
    let found: [NSPersistentHistoryTransaction] = try mine.history(.fetchHistory(after: token))
    mine.performAndWait {
      for transaction in found { mine.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
      #expect(item.value(forKey: "name") as? String == "v2")
      #expect(gone.isDeleted)
    }
  }

  @Test("The notification of a save has the token, unless the store records no history.")
  func notification() throws {
    let store = TrackedStore(.rows)
    func token(_ history: Bool) throws -> NSPersistentHistoryToken? {
      let context = try store.open(history: history)
      defer { store.close(context.persistentStoreCoordinator) }
      let tokens = Mutex<[NSPersistentHistoryToken]>([])
      let observers = [
        NSManagedObjectContext.didSaveObjectsNotification, NSManagedObjectContext.didSaveObjectIDsNotification,
      ]
      .map { name in
        NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { notification in
          guard let token = notification.userInfo?["newChangeToken"] as? NSPersistentHistoryToken else { return }
          tokens.withLock { $0.append(token) }
        }
      }
      try context.make("Item")
      for observer in observers { NotificationCenter.default.removeObserver(observer) }
      if history { #expect(tokens.withLock { $0 } == [context.token, context.token]) }
      return tokens.withLock { $0.first }
    }
    #expect(try token(true) != nil)
    #expect(try token(false) == nil)
  }

  @Test("Every coordinator that asks for it is told of a change of its store.", arguments: TrackedStore.Kind.allCases)
  func remoteChanges(_ kind: TrackedStore.Kind) async throws {
    let store = TrackedStore(kind)
    let option: [AnyHashable: Any] = [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true]
    let (mine, theirs) = (try store.open(option), try store.open(option))
    let others = try store.open(spelling: "./")
    let (told, telling) = AsyncStream.makeStream(of: (ObjectIdentifier?, NSPersistentHistoryToken?).self)
    let identifier = try #require(mine.persistentStoreCoordinator?.persistentStores.first?.identifier)
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: nil, queue: nil
    ) { notification in
      guard notification.userInfo?[NSStoreUUIDKey] as? String == identifier else { return }
      telling.yield(
        (
          (notification.object as? NSPersistentStoreCoordinator).map { ObjectIdentifier($0) },
          notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
        ))
    }
    defer { NotificationCenter.default.removeObserver(observer) }
    try others.make("Item")
    let token = mine.token
    var tellers = told.makeAsyncIterator()
    for coordinator in [mine, theirs].map(\.persistentStoreCoordinator) {
      let one = try #require(await tellers.next())
      #expect(one.0 == coordinator.map { ObjectIdentifier($0) } && one.1 == token)
    }
  }

  @Test("A coordinator is told of changes of a store to which it has migrated another one.")
  func migratedRemoteChanges() async throws {
    let store = TrackedStore(.cairn)
    let context = try store.open()
    try context.make("Item")
    let coordinator = try #require(context.persistentStoreCoordinator)
    let moved = try coordinator.migratePersistentStore(
      coordinator.persistentStores[0], to: store.url.appendingPathExtension("moved"),
      options: [NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true],
      type: .cairn)
    defer { try? FileManager.default.removeItem(at: moved.url!) }
    let (told, telling) = AsyncStream.makeStream(of: NSPersistentHistoryToken?.self)
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
    ) { telling.yield($0.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken) }
    defer { NotificationCenter.default.removeObserver(observer) }
    try context.make("Item")
    var tellers = told.makeAsyncIterator()
    #expect(try #require(await tellers.next()) == context.token)
  }
}

import CairnIncrementalStore
import Foundation
import OpenCoreData

/// How soon a process learns of the saves of another one.
enum Announcements {
  private static func open(_ url: URL, _ options: [AnyHashable: Any]) throws -> NSManagedObjectContext {
    CairnIncrementalStore.register()
    let (item, time) = (NSEntityDescription(), NSAttributeDescription())
    (item.name, time.name, time.attributeType) = ("Item", "time", .integer64AttributeType)
    item.properties = [time]
    let model = NSManagedObjectModel()
    model.entities = [item]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let all = options.merging([NSPersistentHistoryTrackingKey: true]) { old, _ in old }
    _ = try coordinator.addPersistentStore(type: .cairn, at: url, options: all)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  /// In the second process: saves objects that have the time of their save, at random intervals of up to 60 ms.
  static func save(_ count: Int, at url: URL) throws {
    let context = try open(url, [:])
    for _ in 0..<count {
      Thread.sleep(forTimeInterval: .random(in: 0..<0.06))
      try context.performAndWait {
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(Int64(DispatchTime.now().uptimeNanoseconds), forKey: "time")
        try context.save()
      }
    }
  }

  static func measure(_ count: Int, at url: URL) throws {
    for store in try open(url, [:]).persistentStoreCoordinator?.persistentStores ?? [] {
      try store.persistentStoreCoordinator?.remove(store)
    }
    let context = try open(
      url, [NSReadOnlyPersistentStoreOption: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
    let told = DispatchSemaphore(value: 0)
    let observer = NotificationCenter.default.addObserver(
      forName: .NSPersistentStoreRemoteChange, object: context.persistentStoreCoordinator, queue: nil
    ) { _ in told.signal() }
    defer { NotificationCenter.default.removeObserver(observer) }
    let idle = processorTime
    Thread.sleep(forTimeInterval: 5)
    print("\nwaiting takes \(String(format: "%.2f", (processorTime - idle) / 5 * 1000)) ms of processor time a second")

    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--writer", url.path, "--saves", "\(count)"]
    try process.run()
    var token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
    var delays: [Double] = []
    while delays.count < count {
      told.wait()
      try context.performAndWait {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
          token = transaction.token
          for change in transaction.changes ?? [] {
            let item = try context.existingObject(with: change.changedObjectID)
            let saved = item.value(forKey: "time") as? Int64 ?? 0
            delays.append(Double(Int64(DispatchTime.now().uptimeNanoseconds) - saved) / 1e6)
          }
        }
      }
    }
    process.waitUntilExit()
    delays.sort()
    let figures = [delays[count / 2], delays[count * 99 / 100], delays[count - 1]].map { String(format: "%.1f", $0) }
    print("\nfrom a durable save until another process has its object, milliseconds\n")
    print(Readers.line(["", "median", "99 in 100", "most"]))
    print(Readers.line(["\(count) saves"] + figures))
  }

  /// What this process has used so far, in seconds.
  private static var processorTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}

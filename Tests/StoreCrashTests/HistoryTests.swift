import Cairn
import CairnIncrementalStore
import CairnSimulation
import OpenCoreData
import Testing

/// Power losses while a store records its history.
@Suite("Power losses and history")
struct HistoryTests {
  @Test("After a power loss at any call, the store has the objects that its last transaction left.")
  func powerLoss() throws {
    let machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
    let power = PowerCut(seed: 1, oneIn: 2)
    var states: [[String: String]] = [[:]]
    try Self.work(machine) { context in
      power.watch(machine.files)
      var random = SplitMix64(seed: 3)
      for save in 1...60 {
        let items = try Self.items(context)
        switch random.next() % 4 {
        case 0 where !items.isEmpty: context.delete(items[Int(random.next() % UInt64(items.count))])
        case 1 where !items.isEmpty:
          items[Int(random.next() % UInt64(items.count))].setValue("changed \(save)", forKey: "name")
        case 2:
          let objects = (0..<3).map { ["name": "batch \(save).\($0)"] }
          _ = try context.execute(NSBatchInsertRequest(entityName: "Item", objects: objects))
        default:
          NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue("\(save)", forKey: "name")
        }
        try context.save()
        states.append(try Self.contents(context))
        guard save.isMultiple(of: 20) else { continue }
        let token = context.persistentStoreCoordinator?.currentPersistentHistoryToken(fromStores: nil)
        _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: token))
      }
    }
    machine.files.gate = nil
    var found: Set<Int> = []
    for disk in power.takeDisks() {
      try Self.work(SimulatedMachine(disk.files, seed: 2)) { context in
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: .distantPast)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
        let last = Int(transactions.last?.transactionNumber ?? 0)
        found.insert(last)
        #expect(try Self.contents(context) == states[last], "\(disk.place)")
        // None is missing between the first and the last.
        #expect(transactions.map(\.transactionNumber) == Array(Int64(last - transactions.count + 1)..<Int64(last + 1)))
      }
    }
    #expect(found.count > 40)
  }

  private static func items(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request)
  }

  private static func contents(_ context: NSManagedObjectContext) throws -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: try items(context).map {
        ($0.objectID.uriRepresentation().lastPathComponent, $0.value(forKey: "name") as? String ?? "")
      })
  }

  /// Opens the store on a machine with history, and closes it afterwards.
  private static func work(_ machine: SimulatedMachine, _ body: (NSManagedObjectContext) throws -> Void) throws {
    let name = NSAttributeDescription()
    (name.name, name.attributeType) = ("name", .stringAttributeType)
    let item = NSEntityDescription()
    (item.name, item.properties) = ("Item", [name])
    let model = NSManagedObjectModel()
    model.entities = [item]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    NSPersistentStoreCoordinator.registerStoreClass(SimulatedStore.self, forStoreType: SimulatedStore.storeType)
    let store = try coordinator.addPersistentStore(
      ofType: SimulatedStore.storeType, configurationName: nil, at: URL(filePath: "/simulated store"),
      options: [
        SimulatedStore.machineOption: machine, CairnDurabilityOption: "durable", NSPersistentHistoryTrackingKey: true,
      ])
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait { try body(context) }
    try coordinator.remove(store)
    machine.scheduler.drain()
  }
}

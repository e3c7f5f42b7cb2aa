import CairnIncrementalStore
import Foundation
import OpenCoreData

/// A store of items with four attributes.
final class Shelf {
  private let url: URL
  private let coordinator: NSPersistentStoreCoordinator
  private let context: NSManagedObjectContext
  private var items: [NSManagedObject] = []
  private var serial = 0

  init(at url: URL, history: Bool, isDurable: Bool = true, kept: Int? = nil) throws {
    CairnIncrementalStore.register()
    self.url = url
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
    _ = try coordinator.addPersistentStore(
      type: .cairn, at: url,
      options: [
        NSPersistentHistoryTrackingKey: history, CairnDurabilityOption: isDurable ? "durable" : "buffered",
        HistoryMaximumCountOption: kept ?? Int.max,
      ])
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.transactionAuthor = "benchmark"
  }

  private static func model() -> NSManagedObjectModel {
    let item = NSEntityDescription()
    item.name = "Item"
    item.properties = [
      ("name", NSAttributeType.stringAttributeType), ("note", .stringAttributeType), ("rank", .integer64AttributeType),
      ("weight", .doubleAttributeType),
    ].map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [item]
    return model
  }

  private func insert() -> NSManagedObject {
    serial += 1
    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
    item.setValue("item \(serial)", forKey: "name")
    item.setValue("what there is to say of the item with the number \(serial)", forKey: "note")
    item.setValue(serial, forKey: "rank")
    item.setValue(Double(serial) / 3, forKey: "weight")
    return item
  }

  /// Saves new objects, and returns how many seconds the save takes.
  func save(_ count: Int) throws -> Double {
    try context.performAndWait {
      for _ in 0..<count { _ = insert() }
      let start = ContinuousClock.now
      try context.save()
      let time = (ContinuousClock.now - start) / .seconds(1)
      context.reset()
      return time
    }
  }

  func makeTen() throws {
    try context.performAndWait {
      items = (0..<10).map { _ in insert() }
      try context.save()
    }
  }

  /// Changes one of ten objects, and saves it.
  func changeOne(_ number: Int) throws {
    try context.performAndWait {
      serial += 1
      items[number % 10].setValue(serial, forKey: "rank")
      try context.save()
    }
  }

  /// Another coordinator on the store, which knows all of its objects.
  func reader() throws -> Reader { try Reader(at: url, Self.model()) }

  /// Deletes all history, and compacts the store.
  func deleteHistory() throws {
    try context.performAndWait {
      _ = try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: .distantFuture))
    }
    _ = try (coordinator.persistentStores.first as? CairnIncrementalStore)?.compact()
  }

  func close() throws {
    context.performAndWait { context.reset() }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

/// Follows a store by its history.
final class Reader {
  private let coordinator: NSPersistentStoreCoordinator
  private let context: NSManagedObjectContext
  private let items: [NSManagedObject]
  private var token: NSPersistentHistoryToken?

  init(at url: URL, _ model: NSManagedObjectModel) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    _ = try coordinator.addPersistentStore(
      type: .cairn, at: url,
      options: [NSPersistentHistoryTrackingKey: true, CairnDurabilityOption: "buffered"])
    context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    token = coordinator.currentPersistentHistoryToken(fromStores: nil)
    items = try context.performAndWait { [context] in
      let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
      request.returnsObjectsAsFaults = false
      return try context.fetch(request)
    }
  }

  /// Merges the transactions since the last call.
  func follow() throws {
    try context.performAndWait {
      let result = try context.execute(NSPersistentHistoryChangeRequest.fetchHistory(after: token))
      let found = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
      for transaction in found { context.mergeChanges(fromContextDidSave: transaction.objectIDNotification()) }
      token = found.last?.token ?? token
    }
  }

  func close() throws {
    context.performAndWait { context.reset() }
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

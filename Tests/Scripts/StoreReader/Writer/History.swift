import CairnIncrementalStore
import Foundation
import OpenCoreData

/// Opens the example's store with history, makes one change of each kind, and returns 0.
func recordHistory(_ path: String) throws -> Int32 {
  CairnIncrementalStore.register()
  let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Example.model)
  let store = try coordinator.addPersistentStore(
    type: .cairn, at: URL(fileURLWithPath: path), options: [NSPersistentHistoryTrackingKey: true])
  let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
  context.persistentStoreCoordinator = coordinator
  (context.transactionAuthor, context.name) = ("ada", "editor")
  let ida = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
  ida.setValue("Ida", forKey: "name")
  ida.setValue("ida@example.org", forKey: "email")
  try context.save()
  let request = NSFetchRequest<NSManagedObject>(entityName: "Dog")
  let dog = try context.fetch(request)[0]
  dog.setValue(ida, forKey: "owner")
  ida.setValue(Date(timeIntervalSinceReferenceDate: 0), forKey: "born")
  try context.save()
  (context.transactionAuthor, context.name) = (nil, nil)
  context.delete(ida)
  try context.save()
  context.transactionAuthor = "import"
  _ = try context.execute(NSBatchInsertRequest(entityName: "Cat", objects: [["name": "Mia"], ["name": "Leo"]]))
  try coordinator.remove(store)
  return 0
}

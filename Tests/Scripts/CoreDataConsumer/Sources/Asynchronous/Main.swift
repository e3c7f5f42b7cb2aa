import CoreData

/// Once `main` suspends, the main queue may leave the first thread; the view context still belongs to the main queue.
@main
struct Main {
  @MainActor
  static func main() async throws {
    let note = NSEntityDescription()
    note.name = "Note"
    let text = NSAttributeDescription()
    text.name = "text"
    text.attributeType = .stringAttributeType
    note.properties = [text]
    let model = NSManagedObjectModel()
    model.entities = [note]
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
    container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
    container.loadPersistentStores { _, error in precondition(error == nil) }

    let context = container.viewContext
    NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)["text"] = "before"
    try context.save()
    try await container.performBackgroundTask { context in
      NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)["text"] = "elsewhere"
      try context.save()
    }
    let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
    request.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
    let notes = try context.fetch(request)
    print(notes.map { $0["text"] as? String ?? "" })
    let count = try await context.perform { try context.count(for: request) }
    await Task.yield()
    print(count, context.hasChanges)
    await Task.detached {
      container.viewContext.performAndWait {
        container.viewContext.registeredObjects.first?["text"] = "from another thread"
      }
    }.value
    print(context.hasChanges, notes.count)
  }
}

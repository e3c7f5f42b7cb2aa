import CoreData
import Foundation
import Testing

@Suite("Data layers")
struct DataLayerTests {
  private func soup(_ controller: PersistenceController) throws -> NSManagedObjectID {
    let context = controller.makeContext()
    return try context.performAndWait {
      let recipe = Recipe(context: context)
      recipe.name = "Soup"
      try context.save()
      return recipe.objectID
    }
  }

  @Test("A persistence controller has a shared and a preview container.")
  func controller() throws {
    let context = PersistenceController.preview.makeContext(author: "preview")
    try context.performAndWait {
      let request: NSFetchRequest<Recipe> = Recipe.fetchRequest()
      request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
      #expect(try context.fetch(request).map(\.name) == ["Preview 0", "Preview 1", "Preview 2"])
      try context.saveIfNeeded()
      Recipe(context: context).setValue(nil, forKey: "name")
      #expect(!context.saveOrRollback())
      #expect(!context.hasChanges)
    }
    #expect(PersistenceController.shared.container.name == "Cookbook")
  }

  @Test("Methods of the application may have the names of Core Data's and call these.")
  func backports() throws {
    let counter = RecipeCounter(context: PersistenceController.preview.makeContext(author: "counter"))
    #expect(try counter.count() == 3)
    #expect(!counter.hasChanges)
    counter.reset()
  }

  @Test("A stack of lazy parts inserts, saves and is destroyed.")
  func stack() throws {
    let stack = CoreDataStack(modelName: "Todo", model: .todo)
    let objectID = stack.insert("TodoItem", values: ["title": "wash"])
    #expect(!objectID.isTemporaryID)
    stack.saveContext()
    let context = CountingContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = stack.persistentStoreCoordinator
    try context.performAndWait {
      let item = try #require(try context.existingObject(with: objectID) as? TodoItem)
      item.title = "dry"
      try context.save()
    }
    #expect(context.saves == 1)
    let container = TestContainer(name: "Test", managedObjectModel: .todo)
    #expect(container.viewContext is CountingContext)
    #expect(container.newBackgroundContext().name == "test")
    try stack.destroy()
    #expect(stack.persistentStoreCoordinator.persistentStores.isEmpty)
  }

  @Test("A generic repository makes, finds, counts and deletes objects.")
  func repository() throws {
    let context = PersistenceController().makeContext()
    try context.performAndWait {
      let repository = CoreDataRepository<Recipe>(context: context)
      for name in ["Soup", "Stew"] { _ = try repository.create { $0.name = name }.get() }
      try repository.save()
      let byName = [NSSortDescriptor(key: "name", ascending: false)]
      #expect(try repository.getAll(sortDescriptors: byName).get().map(\.name) == ["Stew", "Soup"])
      #expect(repository.count(NSPredicate(format: "name == %@", "Soup")) == 1)
      let soup = try repository.first(where: "name == %@ AND rating < %d", "Soup", 3)
      #expect(try repository.delete(soup).get())
      #expect(throws: RepositoryError.self) { try repository.first(where: "name == %@", "Soup") }
      #expect(try repository.deleteAll() == 1)
      #expect(repository.count() == 0)
    }
  }

  @Test("An import in batches updates existing objects.")
  func importing() async throws {
    let controller = PersistenceController()
    let service = ImportService(container: controller.container, batchSize: 2)
    let ids = (0..<5).map { _ in UUID() }
    let payloads = ids.map { RecipePayload(id: $0, name: "Old", cuisine: nil, rating: 1) }
    #expect(try service.importRecipes(payloads) == 5)
    let changed = [RecipePayload(id: ids[0], name: "New", cuisine: "thai", rating: 2)]
    #expect(try service.importRecipes(changed) == 1)
    let more = [RecipePayload(id: UUID(), name: "More", cuisine: nil, rating: 3)]
    let objectIDs = try await service.importRecipes(json: JSONEncoder().encode(more))
    #expect(objectIDs.allSatisfy { !$0.isTemporaryID })
    let count = try await withCheckedThrowingContinuation { waiter in
      service.removeAll { waiter.resume(with: $0) }
    }
    #expect(count == 6)
  }

  @Test("Failures are distinguished by codes, keys and `CocoaError`.")
  func errors() throws {
    let context = PersistenceController().makeContext()
    context.performAndWait {
      let recipe = Recipe(context: context)
      recipe.setValue(nil, forKey: "name")
      #expect(SaveOutcome.save(context) == .missing("name"))
      let ingredient = Ingredient(context: context)
      #expect(SaveOutcome.save(context) == .invalid)
      do {
        try context.save()
        Issue.record("The objects are invalid.")
      } catch {
        let messages = ["Ingredient.name mustn't be empty.", "Recipe.name mustn't be empty."]
        #expect(SaveFailure(error).messages == messages)
      }
      recipe.name = "Soup"
      ingredient.name = "Salt"
      #expect(SaveOutcome.save(context) == .saved)
    }
    #expect(SaveFailure(NSError(domain: "Other", code: 7)).messages == ["Other 7"])
  }

  @Test("Two saves of one object are a conflict that `catch` recognizes.")
  func conflictError() throws {
    let controller = PersistenceController()
    let objectID = try soup(controller)
    let contexts = [controller.makeContext(), controller.makeContext()]
    for (rating, context) in zip([3.0, 4.0], contexts) {
      context.mergePolicy = NSErrorMergePolicy
      context.performAndWait { (context.object(with: objectID) as? Recipe)?.rating = rating }
    }
    let outcomes = contexts.map { context in context.performAndWait { SaveOutcome.save(context) } }
    #expect(outcomes == [.saved, .conflict(1)])
  }

  @Test("Metadata, options and errors of opening are found under their keys.")
  func inspector() throws {
    let controller = PersistenceController()
    let inspector = StoreInspector(coordinator: controller.container.persistentStoreCoordinator)
    #expect(inspector.storeIdentifier.flatMap(UUID.init(uuidString:)) != nil)
    #expect(inspector.storeType == NSInMemoryStoreType)
    #expect(inspector.entityNames == ["Ingredient", "Recipe"])
    #expect(inspector.isCompatible(with: CookbookModel.shared) && !inspector.isCompatible(with: .todo))
    inspector.lastSyncToken = "42"
    #expect(inspector.lastSyncToken == "42")
    let descriptions = StoreInspector.descriptions()
    #expect(descriptions[0].sqlitePragmas["journal_mode"] as? NSString == "WAL")
    #expect(descriptions[1].isReadOnly && descriptions[1].timeout == 30)
    #expect(StoreInspector.open(descriptions[0], model: .todo) == "opened InMemory")
    let unknown = NSPersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
    #expect(StoreInspector.open(unknown, model: .todo) == "no such type: SQLite")
  }

  @Test("An observer is notified of changes and saves.")
  func observer() throws {
    let context = PersistenceController().makeContext()
    let observer = ChangeObserver(context: context)
    try context.performAndWait {
      let recipe = Recipe(context: context)
      recipe.name = "Soup"
      try context.save()
      recipe.rating = 4
      context.processPendingChanges()
      context.delete(recipe)
      context.processPendingChanges()
    }
    #expect(observer.log == ["inserted 1", "will save", "saved [\"Soup\"]", "updated [\"rating\"]", "deleted 1"])
  }

  @Test("Merge policies, including a custom one, resolve a conflict.")
  func mergePolicies() throws {
    let scene = try ConflictScene(container: PersistenceController().container)
    let store = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)
    #expect(try scene.play(policy: store, firstName: "First", secondName: "Second") == ("First", 4))
    let object = NSMergeByPropertyObjectTrumpMergePolicy
    #expect(try scene.play(policy: object, firstName: "First", secondName: "Second") == ("Second", 4))
    let longer = LongerNamePolicy()
    #expect(try scene.play(policy: longer, firstName: "Much longer", secondName: "Short") == ("Much longer", 4))
    #expect(longer.resolved == 1)
  }

  @Test("Identifiers lead from one context to another, and saves are merged.")
  func sync() throws {
    let controller = PersistenceController()
    let objectID = try soup(controller)
    let sync = SyncCoordinator(coordinator: controller.container.persistentStoreCoordinator)
    let recipe = try sync.viewContext.performAndWait {
      try #require(sync.recipe(at: objectID.uriRepresentation()))
    }
    try sync.rename(objectID, to: "Bisque")
    sync.viewContext.performAndWait {
      #expect(recipe.name == "Bisque")
      recipe.rating = 2
      recipe.cuisine = "french"
      #expect(sync.changedKeys(of: recipe) == ["cuisine", "rating"])
      sync.discardChanges()
      #expect(!sync.viewContext.hasChanges)
      #expect(recipe.rating == 0)
    }
    try sync.delete(objectID)
    sync.viewContext.performAndWait { #expect(recipe.isDeleted) }
  }

  @Test("An actor returns values to awaiting callers.")
  func store() async throws {
    let store = RecipeStore(container: PersistenceController().container)
    let id = try await store.add("Leek soup", ingredients: ["Salt", "Leek"])
    _ = try await store.add("Pie", ingredients: [])
    let found = try await store.recipes(matching: "SOUP")
    #expect(found == [RecipeSnapshot(id: id, name: "Leek soup", ingredients: ["Leek", "Salt"])])
    try await store.remove(id)
    #expect(try await store.count() == 1)
  }
}

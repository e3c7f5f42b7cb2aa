import OpenCoreData
import Testing

@Suite struct ConflictDescriptionTests {
  @Test("An error of a save prints the objects, versions and snapshots of its conflicts, and fires no fault.")
  func mergeConflict() throws {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Zoo().model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    func context() -> NSManagedObjectContext {
      let context = NSManagedObjectContext(concurrencyType: .confinementConcurrencyType)
      context.persistentStoreCoordinator = coordinator
      return context
    }
    let (one, other) = (context(), context())
    let dog = NSEntityDescription.insertNewObject(forEntityName: "Dog", into: one)
    dog["name"] = "Rex"
    try one.save()
    let same = try other.existingObject(with: dog.objectID)
    same["name"] = "Max"
    dog["name"] = "Ben"
    try one.save()
    let error = #expect(throws: NSError.self) { try other.save() }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("NSMergeConflict for"))
    #expect(text.contains("(entity: Dog; id: \(dog.objectID.uriRepresentation().absoluteString))"))
    #expect(text.contains("oldVersion = 1, newVersion = 2") && text.contains("persistedSnapshot = none"))
    #expect(text.contains("name = Rex") && text.contains("name = Ben") && !text.contains("name = Max"))
  }

  @Test("A conflict of a uniqueness constraint prints the constraint, the values and the objects.")
  func constraintConflict() {
    let model = Zoo().model
    _ = NSPersistentStoreCoordinator(managedObjectModel: model)
    let dog = NSManagedObject(entity: model.entitiesByName["Dog"]!, insertInto: nil)
    dog["name"] = "Rex"
    let conflict = NSConstraintConflict(
      constraint: ["name"], database: nil, databaseSnapshot: nil, conflicting: [dog],
      conflictingSnapshots: [["name": "Ben"]])
    let id = dog.objectID.uriRepresentation().absoluteString
    #expect(
      "\(conflict)" == """
        NSConstraintConflict for (name): constraintValues = {name = Rex}, databaseObject = none, \
        databaseSnapshot = none, conflictingObjects = [NSManagedObject (entity: Dog; id: \(id)) \
        with the snapshot {name = Ben}]
        """)
  }
}

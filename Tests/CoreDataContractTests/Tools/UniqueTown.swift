import CoreData

/// The model of ``Town`` in a store in memory, where no two people may have the same nickname, nor the same name and
/// age. Ada, who is 36 and called Countess, has the dog Rex and lives in Elm Street. A house can have a keeper, in a
/// relationship without inverse.
struct UniqueTown {
  let coordinator: NSPersistentStoreCoordinator

  init(_ model: NSManagedObjectModel = model()) throws {
    coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addUniqueStore()
    try work { context in
      let ada = context.make("Person", ["name": "Ada", "age": 36, "nickname": "Countess"])
      ada["home"] = context.make("House", ["street": "Elm"])
      context.make("Pet", ["name": "Rex", "owner": ada])
      try context.save()
    }
  }

  static func model() -> NSManagedObjectModel {
    let model = Town.model()
    let (person, house) = (model.entitiesByName["Person"]!, model.entitiesByName["House"]!)
    person.uniquenessConstraints = [["nickname"], ["name", "age"]]
    house.properties += [Town.relationship("keeper", to: person, isToMany: false)]
    return model
  }

  /// Runs a closure with a new context, which is released afterwards.
  @discardableResult
  func work<Result>(
    _ policy: NSMergePolicy = .error, _ body: (NSManagedObjectContext) throws -> Result
  ) rethrows -> Result {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      context.mergePolicy = policy
      return try body(context)
    }
  }

  /// The people in the store, sorted by name, each with age and nickname.
  func people() throws -> [String] {
    try work { context in
      try context.all("Person").map { "\($0["name"]!) \($0["age"]!) \($0["nickname"] ?? "nil")" }.sorted()
    }
  }
}

/// The violations that an error lists; empty for any other error.
func violations(_ error: NSError?) -> [NSConstraintConflict] {
  guard error?.domain == NSCocoaErrorDomain, error?.code == 133021 else { return [] }
  return error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
}

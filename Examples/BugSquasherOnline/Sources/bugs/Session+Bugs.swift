import CoreData
import RemoteIncrementalStore

extension Session {
  /// The bug that a user names.
  func bug(_ name: BugName, _ context: NSManagedObjectContext) throws -> Bug {
    switch name {
    case .number(let number):
      let request = Bug.fetchRequest()
      request.predicate = NSPredicate(format: "number == %lld", number)
      request.freshness = freshness
      if let bug = try context.fetch(request).first { return bug }
    case .unsent(let name):
      if let store = store.identifier, let url = URL(string: "x-coredata://\(store)/Bug/\(name)"),
        let id = container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: url),
        let bug = try? context.existingObject(with: id) as? Bug
      {
        return bug
      }
    }
    throw Failure(description: isOnline ? "There is no bug \(name)." : "No bug \(name) is known here.")
  }

  /// The user with a login.
  func user(_ login: String, _ context: NSManagedObjectContext) throws -> User {
    let request = User.fetchRequest()
    request.predicate = NSPredicate(format: "login == %@", login)
    request.freshness = freshness
    guard let user = try context.fetch(request).first else {
      throw Failure(description: isOnline ? "There is no user \(login)." : "No user \(login) is known here.")
    }
    return user
  }
}

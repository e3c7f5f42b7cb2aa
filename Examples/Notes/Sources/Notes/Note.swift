import CoreData

/// A note in a folder. Its properties are in the extension that `modelgen` has written.
class Note: NSManagedObject {}

/// A folder of notes.
class Folder: NSManagedObject {
  /// The folder with a name, which is inserted if there is none.
  static func named(_ name: String, in context: NSManagedObjectContext) throws -> Folder {
    let request: NSFetchRequest<Folder> = Folder.fetchRequest()
    request.predicate = NSPredicate(format: "name == %@", name)
    if let folder = try context.fetch(request).first { return folder }
    let folder = Folder(context: context)
    folder.name = name
    return folder
  }
}

import Foundation

let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
request.predicate = NSPredicate(format: "name == %@", UUID() as CVarArg)
request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
print(path(of: request.predicate!) ?? "none", request.sortDescriptors!.count)

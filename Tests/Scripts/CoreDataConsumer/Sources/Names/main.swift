import CoreData

class Item: NSManagedObject {}

class Note: NSManagedObject {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Note> {
    return NSFetchRequest<Note>(entityName: "Note")
  }
}

let model = NSManagedObjectModel()
model.entities = [Item.self, Note.self].map { type in
  let text = NSAttributeDescription()
  text.name = "text"
  text.attributeType = .stringAttributeType
  let entity = NSEntityDescription()
  entity.name = "\(type)"
  entity.managedObjectClassName = NSStringFromClass(type)
  entity.properties = [text]
  return entity
}
let container = NSPersistentContainer(name: "Names", managedObjectModel: model)
container.persistentStoreDescriptions[0].type = NSInMemoryStoreType
container.loadPersistentStores { _, error in if let error { fatalError("\(error)") } }
let context = container.viewContext
for type in [Item.self, Note.self] { type.init(context: context).setValue("\(type)", forKey: "text") }
try context.save()

/// Counts the objects of a class with every way to make a fetch request for it.
func counts<T: NSManagedObject>(_ type: T.Type) throws -> [Int] {
  let cast = T.fetchRequest() as! NSFetchRequest<T>
  let annotated: NSFetchRequest<T> = T.fetchRequest()
  let untyped: NSFetchRequest<NSFetchRequestResult> = T.fetchRequest()
  return [
    try context.fetch(cast).count, try context.fetch(annotated).count, (try context.fetch(untyped) as! [T]).count,
  ]
}
print(try counts(Item.self), try counts(Note.self))

let items = Item.fetchRequest() as! NSFetchRequest<Item>
items.predicate = Query().compare(NSExpression(forKeyPath: "text"), "ITEM")
print(try context.fetch(items).count, try context.fetch(Note.fetchRequest()).count)

let dictionaries: NSFetchRequest<NSFetchRequestResult> = Note.fetchRequest()
dictionaries.resultType = .dictionaryResultType
print(try context.fetch(dictionaries) as! [[String: String]])

print(Query.kind(of: NSExpression(format: "a + 1")) == .function, comparesEqual(items.predicate!))
let day = Date(timeIntervalSinceReferenceDate: 0)
print(found([["name": "old", "date": day], ["name": "new", "date": day + 1]], after: day))
print(String(format: "%@ %@", URL(string: "a:b")! as CVarArg, [1, 2] as CVarArg))

import CoreData
import Foundation

/// What a program may do wrong, by its name.
let kinds: [String: (Setting) throws -> Void] = [
  "key": { setting in setting.context.performAndWait { _ = Person(context: setting.context).value(forKey: "nam") } },
  "type": { setting in setting.context.performAndWait { Person(context: setting.context).setValue(7, forKey: "name") }
  },
  "related": { setting in
    setting.context.performAndWait {
      Pet(context: setting.context).setValue(Pet(context: setting.context), forKey: "owner")
    }
  },
  "queue": { setting in _ = try setting.context.fetch(NSFetchRequest<Person>(entityName: "Person")) },
  "result": { setting in
    let request = NSFetchRequest<Pet>(entityName: "Person")
    try setting.context.performAndWait {
      _ = Person(context: setting.context)
      _ = try setting.context.fetch(request)
    }
  },
  "entity": { setting in
    setting.context.performAndWait {
      _ = NSEntityDescription.insertNewObject(forEntityName: "Persn", into: setting.context)
    }
  },
  "abstract": { setting in setting.context.performAndWait { insert("Being", setting) } },
  "class": { setting in setting.context.performAndWait { _ = Stranger(context: setting.context) } },
  "unknownClass": { _ in
    let (model, somebody) = (NSManagedObjectModel(), NSEntityDescription())
    (somebody.name, somebody.managedObjectClassName) = ("Somebody", "Nobody")
    model.entities = [somebody]
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
  },
  "place": { setting in
    setting.context.performAndWait {
      let guests = Person(context: setting.context).mutableOrderedSetValue(forKey: "guests")
      guests.insert(Pet(context: setting.context), at: 1)
    }
  },
  "model": { _ in _ = NSPersistentContainer(name: "Nowhere") },
  "frozen": { setting in setting.container.managedObjectModel.entities = [] },
  "contexts": { setting in
    let (one, other) = (setting.context, setting.container.newBackgroundContext())
    let pet = other.performAndWait { Pet(context: other) }
    one.performAndWait { other.performAndWait { Person(context: one).setValue(NSSet(object: pet), forKey: "pets") } }
  },
  "gone": { setting in
    var context: NSManagedObjectContext? = setting.container.newBackgroundContext()
    let person = context?.performAndWait { Person(context: context!) }
    context = nil
    let name = person?.value(forKey: "name") ?? "nothing is left to read"
    FileHandle.standardOutput.write(Data("\(name)\n".utf8))
    person?.setValue("Ann", forKey: "name")
  },
  "ungrouped": { setting in
    setting.context.performAndWait {
      let manager = UndoManager()
      manager.groupsByEvent = false
      setting.context.undoManager = manager
      _ = Person(context: setting.context)
      setting.context.processPendingChanges()
    }
  },
  "unbegun": { _ in UndoManager().endUndoGrouping() },
  "unended": { _ in
    let manager = UndoManager()
    for _ in 0..<2 { manager.beginUndoGrouping() }
    manager.undo()
  },
  "undoing": { setting in
    let manager = UndoManager()
    manager.registerUndo(withTarget: setting.container) { _ in manager.redo() }
    manager.undo()
  },
  "storeClass": { _ in NSPersistentStoreCoordinator.registerStoreClass(NSObject.self, forStoreType: "Wrong") },
  "abstractStore": { _ in
    let setting = try Setting("Giving")
    try setting.context.performAndWait {
      _ = try setting.context.count(for: NSFetchRequest<Person>(entityName: "Person"))
    }
  },
  "predicate": { _ in _ = NSPredicate(format: "name ==") },
  "damaged": { _ in
    unsafe GivingStore.error = NSError(
      domain: NSCocoaErrorDomain, code: CocoaError.fileReadCorruptFile.rawValue,
      userInfo: [NSLocalizedDescriptionKey: "The row is damaged at byte 17."])
    try readName()
  },
  "storedType": { _ in try readName() },
]

func insert(_ name: String, _ setting: Setting) {
  _ = Person(entity: setting.container.managedObjectModel.entitiesByName[name]!, insertInto: setting.context)
}

func readName() throws {
  let setting = try Setting("Giving")
  try setting.context.performAndWait { _ = try setting.fault().value(forKey: "name") }
}

guard CommandLine.arguments.count == 2, let kind = kinds[CommandLine.arguments[1]] else {
  print(kinds.keys.sorted().joined(separator: "\n"))
  exit(64)
}
try kind(Setting())

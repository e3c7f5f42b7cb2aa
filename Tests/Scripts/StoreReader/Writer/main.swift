import CairnIncrementalStore
import Foundation
import OpenCoreData

// Writes a store with everything that STORE-FORMAT.md describes, the same each time, at the path that is the argument.
// With a second argument, opens the store there with the model file at that path instead, to which it migrates; with
// --history, records changes of that store.

ValueTransformer.setValueTransformer(ReversingTransformer(), forName: NSValueTransformerName("Reversing"))
if CommandLine.arguments.last == "--history" { exit(try recordHistory(CommandLine.arguments[1])) }
if CommandLine.arguments.count > 2 { exit(try migrate(CommandLine.arguments[1], CommandLine.arguments[2])) }

let path = CommandLine.arguments[1]
let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Example.model)
try FileManager.default.createDirectory(
  at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
CairnIncrementalStore.register()
_ = try coordinator.addPersistentStore(type: .cairn, at: URL(fileURLWithPath: path))
let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
context.persistentStoreCoordinator = coordinator

/// Each object is saved alone, so that its reference is always the same.
@MainActor func insert(_ entity: String, _ values: [String: Any]) throws -> NSManagedObject {
  let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
  for (name, value) in values.sorted(by: { $0.key < $1.key }) { object.setValue(value, forKey: name) }
  try context.save()
  return object
}

let ann = try insert(
  "Person", ["name": "Ann", "born": Date(timeIntervalSinceReferenceDate: -0.0), "email": "a@example.org"])
let zoe = try insert("Person", ["name": "Zoe\u{308}", "born": Date(timeIntervalSinceReferenceDate: 86400.5)])
let long = try insert("Person", ["name": String(repeating: "A\u{30A}", count: 120)])
let gone = try insert("Person", ["name": "Gone", "email": "gone@example.org"])

let rex = try insert("Dog", ["name": "Rex", "owner": ann, "walker": gone])
let tom = try insert("Cat", ["name": "Tom", "owner": ann, "lives": 9])
let wild = try insert("Animal", ["name": "Fox"])
let lost = try insert("Cat", ["name": "Lost", "owner": zoe])

ann.mutableSetValue(forKey: "friends").addObjects(from: [zoe, gone])
try context.save()
zoe.mutableOrderedSetValue(forKey: "favourites").addObjects(from: [tom, wild, rex])
try context.save()
zoe.mutableOrderedSetValue(forKey: "favourites").moveObjects(at: IndexSet(integer: 2), to: 0)
try context.save()
rex.mutableSetValue(forKey: "seen").addObjects(from: [ann, gone])
try context.save()
context.delete(gone)
try context.save()
context.delete(lost)
try context.save()

_ = try insert("Sample", [:])
_ = try insert(
  "Sample",
  [
    "short": -5, "middle": 70_000, "long": Int64.min, "decimal": NSDecimalNumber(string: "-12.50"), "double": 0.1,
    "float": Float(1.5), "string": "ö\0\u{1F600}", "flag": true, "date": Date(timeIntervalSinceReferenceDate: 1.25),
    "data": Data([0, 255]), "uuid": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)),
    "link": URL(string: "https://example.org/a?b")!, "transformed": "abc", "target": rex.objectID,
    "place": ["city": "Ulm", "position": ["latitude": 48.4]],
  ])
for store in coordinator.persistentStores { try coordinator.remove(store) }

/// Stores a text with its bytes in reverse order.
final class ReversingTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSData.self }
  override class func allowsReverseTransformation() -> Bool { true }
  override func transformedValue(_ value: Any?) -> Any? { (value as? String).map { Data($0.utf8.reversed()) } }
  override func reverseTransformedValue(_ value: Any?) -> Any? {
    (value as? Data).map { String(decoding: $0.reversed(), as: UTF8.self) }
  }
}

import CoreData
import Synchronization
import Testing

@testable import IncrementalStore

@Suite("Objects made and rows cached by a fetch", .anyStore)
struct LeanFetchTests {
  private let stack: Stack<RecordingStore>

  init() throws {
    let backing = Backing()
    for number in 0..<300 { backing.add("Person", ["name": "P\(number)", "age": number % 100]) }
    stack = try Stack(Town.model(personClass: CountedObject.self), backing)
  }

  /// Expects a fetch to find this many rows, to make this many objects, and to put this many rows into the row cache.
  private func expect(
    found: Int, objects: Int, cached: Int, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (NSManagedObjectContext) throws -> Int
  ) throws {
    try stack.work { context in
      let before = stack.store.cache.size.rows
      var number = 0
      let made = try CountedObject.counting { number = try body(context) }
      #expect(number == found, sourceLocation: sourceLocation)
      #expect(made == objects, sourceLocation: sourceLocation)
      #expect(stack.store.cache.size.rows - before == cached, sourceLocation: sourceLocation)
    }
  }

  @Test("Counting rows makes no object and caches no row.")
  func count() throws {
    try expect(found: 300, objects: 0, cached: 0) { try $0.count(for: people()) }
    try expect(found: 21, objects: 0, cached: 0) { try $0.count(for: people("age < 7")) }
  }

  @Test("A fetch makes objects for, and caches, only the rows that it finds.")
  func found() throws {
    try expect(found: 3, objects: 3, cached: 3) { try $0.all("Person", "age = 7").count }
    let request = people()
    request.sortDescriptors = [NSSortDescriptor(key: "age", ascending: false)]
    request.fetchLimit = 5
    try expect(found: 5, objects: 5, cached: 5) { try $0.fetch(request).count }
  }

  @Test("A fetch of dictionaries makes no object and caches no row.")
  func dictionaries() throws {
    let request = NSFetchRequest<NSDictionary>(entityName: "Person")
    request.resultType = .dictionaryResultType
    request.propertiesToFetch = ["name"]
    try expect(found: 300, objects: 0, cached: 0) { try $0.fetch(request).count }
  }

  @Test("A fetch of identifiers makes no object, and caches no row if no values are requested.")
  func identifiers() throws {
    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Person")
    request.resultType = .managedObjectIDResultType
    request.includesPropertyValues = false
    try expect(found: 300, objects: 0, cached: 0) { try $0.fetch(request).count }
  }

  @Test("Fetching a small row takes little memory, also after a large one.", arguments: [nil, "age"])
  func memory(sortKey: String?) throws {
    let backing = Backing()
    backing.add("Person", ["name": String(repeating: "P", count: 100_000), "age": 0])
    for age in 1...10 { backing.add("Person", ["name": "P", "age": age]) }
    let stack = try Stack(Town.model(), backing)
    try stack.work { context in
      let request = people("age > 0")
      request.sortDescriptors = sortKey.map { [NSSortDescriptor(key: $0, ascending: true)] }
      let found = try context.fetch(request)
      #expect(found.count == 10)
      for object in found {
        let row = try #require(stack.store.cache.row(of: object.objectID))
        #expect(row.bytes.capacity < 1000)
      }
    }
  }
}

/// Counts the objects that the current test makes.
final class CountedObject: NSManagedObject {
  private final class Count: Sendable {
    let made = Atomic(0)
  }

  @TaskLocal private static var count: Count?

  required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    Self.count?.made.add(1, ordering: .relaxed)
    super.init(entity: entity, insertInto: context)
  }

  static func counting(_ body: () throws -> Void) rethrows -> Int {
    let count = Count()
    try $count.withValue(count, operation: body)
    return count.made.load(ordering: .relaxed)
  }
}

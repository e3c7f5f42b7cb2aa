import OpenCoreData
import Testing

/// `OPENCOREDATA_SEED` replays a failure.
@Suite("The table of a context's objects")
struct ObjectTableTests {
  private let entity: NSEntityDescription
  private let model = NSManagedObjectModel()

  init() {
    entity = NSEntityDescription()
    entity.name = "Entry"
    model.entities = [entity]
  }

  private func made(_ count: Int) -> [NSManagedObject] {
    (0..<count).map { _ in NSManagedObject(entity: entity, insertInto: nil) }
  }

  /// Other objects with the same identifiers.
  private func twins(of objects: [NSManagedObject]) -> [NSManagedObject] {
    let context = NSManagedObjectContext(.privateQueue)
    return context.performAndWait { objects.map { context.object(with: $0.objectID) } }
  }

  @Test("Random insertions and removals find the objects that a dictionary finds.")
  func program() {
    var random = SeededGenerator(seed: chooseSeed())
    let originals = made(400)
    let pool = originals + twins(of: originals)
    var table = ObjectTable()
    var expected: [NSManagedObjectID: NSManagedObject] = [:]
    for step in 0..<20_000 {
      let object = pool.randomElement(using: &random)!
      let id = object.objectID
      // The table grows and shrinks in turn.
      let grows = step / 2000 % 2 == 0
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<(grows ? 6 : 2):
        table.insert(object)
        expected[id] = object
      case 0..<9:
        let isRemoved = table.remove(object, with: id)
        #expect(isRemoved == (expected[id] === object))
        if expected[id] === object { expected[id] = nil }
      default:
        table.remove(id)
        expected[id] = nil
      }
      #expect(table.count == expected.count)
      let other = originals.randomElement(using: &random)!.objectID
      #expect(table[other] === expected[other])
      #expect(table.contains(other) == (expected[other] != nil))
    }
    #expect(Set(table.objects) == Set(expected.values))
  }

  @Test("Removing an object leaves another one that has taken its place.")
  func replacement() {
    let first = made(1)[0]
    let second = twins(of: [first])[0]
    var table = ObjectTable()
    table.insert(first)
    table.insert(second)
    let (isFirstRemoved, found) = (table.remove(first, with: first.objectID), table[first.objectID])
    #expect(!isFirstRemoved && found === second)
    let isSecondRemoved = table.remove(second, with: first.objectID)
    #expect(isSecondRemoved && table.count == 0)
  }

  @Test("Room that was reserved changes nothing about the objects.")
  func reservation() {
    var table = ObjectTable()
    table.reserve(0)
    #expect(table.objects.isEmpty)
    let objects = made(100)
    for object in objects.prefix(50) { table.insert(object) }
    table.reserve(1000)
    for object in objects.suffix(50) { table.insert(object) }
    #expect(objects.allSatisfy { table[$0.objectID] === $0 })
    #expect(table.count == 100)
  }
}

import Cairn
import CairnSimulation
import OpenCoreData
import Testing

@Suite("Copying large stores")
struct CopyTests {
  private static let url = URL(filePath: "/simulated store")

  @Test("Objects that are copied in parts have the same values and relationships as before, in all kinds of stores.")
  func everyKind() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    let things = Things(count: 2300, seed: seed)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
    let first = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    try things.make(in: coordinator)
    let machine = SimulatedMachine(MemoryFileLayer(), seed: seed)

    let stored = try Self.copy(first, of: coordinator, to: machine)
    #expect(try things.read(from: coordinator) == things.expected, "seed \(seed)")
    try StoredGraph(try #require(stored as? SimulatedStore).engine).check()
    #expect(stored.metadata["OpenCoreDataIncompleteCopy"] == nil)

    let memory = try coordinator.migratePersistentStore(stored, to: URL(filePath: "/dev/null"), type: .inMemory)
    #expect(try things.read(from: coordinator) == things.expected, "seed \(seed)")
    let again = try Self.copy(memory, of: coordinator, to: SimulatedMachine(MemoryFileLayer(), seed: seed))
    #expect(try things.read(from: coordinator) == things.expected, "seed \(seed)")
    try coordinator.remove(again)
    machine.scheduler.drain()
  }

  @Test("After a power loss at any call, a copied store has all objects, or says that it is incomplete, or is empty.")
  func powerLoss() throws {
    let things = Things(count: 1100, seed: 7)
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
    let first = try coordinator.addPersistentStore(ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
    try things.make(in: coordinator)
    let machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
    let power = PowerCut(seed: 1, oneIn: 2)
    power.watch(machine.files)
    let copy = try Self.copy(first, of: coordinator, to: machine)
    try coordinator.remove(copy)
    machine.files.gate = nil

    var found: [String: Int] = [:]
    for disk in power.takeDisks() {
      let coordinator = NSPersistentStoreCoordinator(managedObjectModel: makeModel())
      do {
        let store = try Self.add(to: coordinator, SimulatedMachine(disk.files, seed: 2))
        let graph = try things.read(from: coordinator)
        #expect(graph.isEmpty || graph == things.expected, "\(disk.place)")
        found[graph.isEmpty ? "empty" : "whole", default: 0] += 1
        try coordinator.remove(store)
      } catch CocoaError.persistentStoreOpen {
        found["incomplete", default: 0] += 1
      }
    }
    #expect(found["incomplete"] ?? 0 > 10 && found["whole"] ?? 0 > 0, "\(found)")
  }

  private static func copy(
    _ store: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator, to machine: SimulatedMachine
  ) throws -> NSPersistentStore {
    NSPersistentStoreCoordinator.registerStoreClass(SimulatedStore.self, forStoreType: SimulatedStore.storeType)
    return try coordinator.migratePersistentStore(
      store, to: url, options: [SimulatedStore.machineOption: machine], withType: SimulatedStore.storeType)
  }

  private static func add(
    to coordinator: NSPersistentStoreCoordinator, _ machine: SimulatedMachine
  ) throws -> NSPersistentStore {
    try coordinator.addPersistentStore(
      ofType: SimulatedStore.storeType, configurationName: nil, at: url,
      options: [SimulatedStore.machineOption: machine])
  }
}

/// Things with random values and relationships. Some have more members than are copied at a time.
private struct Things {
  typealias Row = [String: [Int]]

  private(set) var expected: [Int: Row] = [:]

  init(count: Int, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    expected = Dictionary(
      uniqueKeysWithValues: (0..<count).map { ($0, ["number": [Int.random(in: 0..<9, using: &random)]]) })
    for serial in 0..<count {
      func other() -> Int { Int.random(in: 0..<count, using: &random) }
      for relation in [Relation.parent, .head, .warden, .subject, .link] where Bool.random(using: &random) {
        relate(serial, relation, Int.random(in: 0..<3, using: &random) == 0 ? other() : count / 2)
      }
      if serial.isMultiple(of: 3) { relate(serial, .peer, (serial + count / 2) % count) }
      for relation in [Relation.groups, .friends, .links, .chain] where Int.random(in: 0..<4, using: &random) == 0 {
        relate(serial, relation, other())
        relate(serial, relation, count - 1)
        relate(count - 1, relation, serial)
      }
    }
    for serial in expected.keys {
      for relation in [Relation.line, .members, .chain] {
        expected[serial]?[relation.rawValue]?.shuffle(using: &random)
      }
    }
  }

  private mutating func relate(_ x: Int, _ relation: Relation, _ y: Int) {
    func add(_ x: Int, _ relation: Relation, _ y: Int) {
      if expected[x]?[relation.rawValue]?.contains(y) != true {
        expected[x, default: [:]][relation.rawValue, default: []].append(y)
      }
    }
    if let inverse = relation.inverse, !inverse.isToMany, expected[y]?[inverse.rawValue] != nil { return }
    add(x, relation, y)
    relation.inverse.map { add(y, $0, x) }
  }

  private static func isOrdered(_ name: String) -> Bool { Relation(rawValue: name)?.isOrdered ?? true }

  func make(in coordinator: NSPersistentStoreCoordinator) throws {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    try context.performAndWait {
      let objects = expected.keys.sorted().map { serial in
        let name = serial.isMultiple(of: 5) ? "Special" : "Thing"
        let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
        object.setValue(serial, forKey: "serial")
        object.setValue("thing \(serial)", forKey: "name")
        if name == "Special" { object.setValue(serial, forKey: "rank") }
        return object
      }
      for (serial, row) in expected {
        objects[serial].setValue(row["number"]?.first, forKey: "number")
        for relation in Relation.allCases {
          let related = row[relation.rawValue]?.map { objects[$0] } ?? []
          if !relation.isToMany {
            related.first.map { objects[serial].setValue($0, forKey: relation.rawValue) }
          } else if relation.isOrdered {
            objects[serial].setValue(NSOrderedSet(array: related), forKey: relation.rawValue)
          } else if !related.isEmpty {
            objects[serial].setValue(NSSet(array: related), forKey: relation.rawValue)
          }
        }
      }
      // The order of members that were added from the other end.
      for (serial, row) in expected {
        for relation in Relation.allCases where relation.isOrdered {
          objects[serial].setValue(
            NSOrderedSet(array: row[relation.rawValue]?.map { objects[$0] } ?? []), forKey: relation.rawValue)
        }
      }
      try context.save()
    }
  }

  /// All things of a store.
  func read(from coordinator: NSPersistentStoreCoordinator) throws -> [Int: Row] {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return try context.performAndWait {
      func serial(_ object: Any) -> Int { (object as? NSManagedObject)?.value(forKey: "serial") as? Int ?? -1 }
      var graph: [Int: Row] = [:]
      for object in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Thing")) {
        #expect(object.value(forKey: "name") as? String == "thing \(serial(object))")
        #expect((object.entity.name == "Special") == serial(object).isMultiple(of: 5))
        var row: Row = ["number": [object.value(forKey: "number") as? Int ?? -1]]
        for relation in Relation.allCases {
          let related: [Int] =
            switch object.value(forKey: relation.rawValue) {
            case let one as NSManagedObject: [serial(one)]
            case let set as NSOrderedSet: set.array.map(serial)
            case let set as NSSet: set.allObjects.map(serial)
            default: []
            }
          // Unordered members are compared in the order of the expected ones.
          let rank = Dictionary((expected[serial(object)]?[relation.rawValue] ?? []).enumerated().map { ($1, $0) }) {
            $1
          }
          let listed = relation.isOrdered ? related : related.sorted { rank[$0] ?? $0 < rank[$1] ?? $1 }
          if !listed.isEmpty { row[relation.rawValue] = listed }
        }
        graph[serial(object)] = row
      }
      return graph
    }
  }
}

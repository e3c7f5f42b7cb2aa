import Cairn
import CairnSimulation
import OpenCoreData

/// A random program of two coordinators on one store, which save under every merge policy. Each disk that a loss of
/// power may have left must have relationships whose ends agree.
struct PolicyProgram {
  private let model = makeModel()
  private let machine: SimulatedMachine
  private let power: PowerCut
  private let subjects: [Subject]
  private var random: SplitMix64
  /// The objects that each context has seen.
  private var held: [[NSManagedObject]] = [[], []]
  private var serials = 0

  /// Runs a program of `length` steps, and returns the number of disks that were checked.
  static func run(seed: UInt64, length: Int) throws -> Int {
    var program = try PolicyProgram(seed: seed)
    defer { program.leave() }
    var disks = 0
    for step in 0..<length {
      do {
        try program.step()
        disks += try program.checkDisks()
      } catch {
        throw CrashFailure("step \(step): \(error)")
      }
    }
    return disks
  }

  private init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    power = PowerCut(seed: seed, oneIn: 4)
    machine = SimulatedMachine(MemoryFileLayer(), seed: seed)
    let (machine, model) = (machine, model)
    subjects = try [true, false].map { try Subject(machine, model, isDurable: $0) }
    power.watch(machine.files)
  }

  private func leave() {
    machine.files.gate = nil
    for subject in subjects { try? subject.close() }
  }

  private func checkDisks() throws -> Int {
    let disks = power.takeDisks()
    for disk in disks {
      let subject = try Subject(SimulatedMachine(disk.files, seed: 1), model)
      defer { try? subject.close() }
      do { try StoredGraph(try subject.store.engine).check() } catch { throw CrashFailure("\(disk.place): \(error)") }
    }
    return disks.count
  }

  // MARK: Steps

  private mutating func chance(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[chance(elements.count)]
  }

  private mutating func step() throws {
    let c = chance(subjects.count)
    try subjects[c].perform { context in
      try step(c, context)
      context.processPendingChanges()
    }
  }

  private mutating func step(_ c: Int, _ context: NSManagedObjectContext) throws {
    let live = held[c].filter { $0.managedObjectContext === context && !$0.isDeleted }
    guard let object = pick(live), let other = pick(live) else {
      insert(c, context)
      return try fetch(c, context)
    }
    switch chance(100) {
    case 0..<12: insert(c, context)
    case 12..<20: object.setValue("name \(chance(6))", forKey: "name")
    case 20..<55: relate(object, other)
    case 55..<64: context.delete(object)
    case 64..<75: try fetch(c, context)
    case 75..<77: machine.scheduler.drain()
    case 77: try subjects[c].store.engine.compact()
    default: save(c, context)
    }
  }

  private mutating func insert(_ c: Int, _ context: NSManagedObjectContext) {
    serials += 1
    let name = chance(4) == 0 ? "Special" : "Thing"
    let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
    object.setValue(serials, forKey: "serial")
    held[c].append(object)
  }

  private mutating func relate(_ object: NSManagedObject, _ other: NSManagedObject) {
    guard let relation = pick(Relation.allCases) else { return }
    let key = relation.rawValue
    let isTakenAway = chance(4) == 0
    if !relation.isToMany {
      object.setValue(isTakenAway ? nil : other, forKey: key)
    } else if relation.isOrdered {
      let members = object.mutableOrderedSetValue(forKey: key)
      if isTakenAway { members.remove(other) } else { members.insert(other, at: 0) }
    } else {
      let members = object.mutableSetValue(forKey: key)
      if isTakenAway { members.remove(other) } else { members.add(other) }
    }
  }

  private mutating func fetch(_ c: Int, _ context: NSManagedObjectContext) throws {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Thing")
    request.sortDescriptors = [NSSortDescriptor(key: "serial", ascending: true)]
    request.returnsObjectsAsFaults = chance(2) == 0
    let known = Set(held[c])
    held[c] += try context.fetch(request).filter { !known.contains($0) }
  }

  /// Saves under any policy. A save that fails is given up.
  private mutating func save(_ c: Int, _ context: NSManagedObjectContext) {
    context.mergePolicy = pick([
      NSMergePolicy.error, .mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback,
    ])!
    do { try context.save() } catch { context.rollback() }
  }
}

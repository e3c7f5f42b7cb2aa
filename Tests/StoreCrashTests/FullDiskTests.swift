import Cairn
import CairnSimulation
import OpenCoreData
import Testing

@Suite struct FullDiskTests {
  private func code(_ body: () throws -> Void) -> (code: Int, beneath: StoreError.Code?)? {
    do {
      try body()
      return nil
    } catch {
      let error = error as NSError
      return (error.code, (error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code)
    }
  }

  @Test("D11: A save without space throws and changes nothing, and succeeds once there is space.")
  func noSpace() throws {
    let files = MemoryFileLayer(capacity: 24 << 20)
    let machine = SimulatedMachine(files, seed: 1)
    let subject = try Subject(machine, makeModel())
    // A text that does not compress.
    let text = String((0..<40_000).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...126))) })
    var saved = 0
    var failure: (code: Int, beneath: StoreError.Code?)?
    while failure == nil, saved < 20_000 {
      for _ in 0..<10 {
        saved += 1
        subject.insert(saved, isSpecial: false)
        try subject.set(saved, "name", "\(saved) \(text)")
      }
      failure = code { try subject.save() }
      if failure != nil { saved -= 10 }
    }
    let error = try #require(failure)
    #expect(error.code == CocoaError.fileWriteOutOfSpace.rawValue && error.beneath == .noSpace)
    let reader = try Subject(machine, makeModel())
    func count() throws -> Int {
      try reader.perform { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Thing")) }
    }
    #expect(try count() == saved)
    files.capacity = nil
    try subject.save()
    #expect(try count() == saved + 10)
  }

  @Test("D11: On a full disk all objects can be deleted one by one, with their members and the rows that name them.")
  func deleting() throws {
    let machine = SimulatedMachine(MemoryFileLayer(capacity: 3 << 19), seed: 1)
    let subject = try Subject(machine, makeModel())
    var random = SplitMix64(seed: 7)
    var things: [NSManagedObject] = []
    var refusal: Int?
    while refusal == nil {
      let group = subject.perform { context in makeGroup(in: context, after: things.count, &random) }
      refusal = code { try subject.save() }?.code
      if refusal == nil { things += group }
      machine.scheduler.drain()
    }
    #expect(refusal == CocoaError.fileWriteOutOfSpace.rawValue)
    subject.perform { $0.rollback() }
    let total = things.count
    things.shuffle(using: &random)
    for (count, thing) in things.enumerated() {
      subject.perform { $0.delete(thing) }
      try subject.save()
      if count % 100 == 0 { #expect(try subject.count("Thing") == total - count - 1) }
      machine.scheduler.drain()
    }
    #expect(try subject.count("Thing") == 0)
  }

  /// Makes 20 things: the first leads the others in an ordered relationship, and all are friends of each other.
  private func makeGroup(
    in context: NSManagedObjectContext, after serial: Int, _ random: inout SplitMix64
  ) -> [NSManagedObject] {
    let group = (serial..<serial + 20).map { serial in
      let thing = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
      thing.setValue(serial, forKey: "serial")
      thing.setValue("\(serial) \(random.next())", forKey: "name")
      // Does not compress.
      let text = (0..<500).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...126, using: &random))) }
      thing.setValue(String(text), forKey: "text")
      return thing
    }
    group[0].setValue(NSOrderedSet(array: group), forKey: "line")
    for thing in group { thing.setValue(NSSet(array: group), forKey: "friends") }
    return group
  }
}

import Cairn
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

  @Test("a save without space changes nothing, says so, and succeeds once there is space")
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
}

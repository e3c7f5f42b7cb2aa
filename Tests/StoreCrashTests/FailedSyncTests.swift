import Cairn
import CairnSimulation
import OpenCoreData
import Testing

@Suite struct FailedSyncTests {
  private let files = MemoryFileLayer()
  private let machine: SimulatedMachine

  init() { machine = SimulatedMachine(files, seed: 1) }

  private func failure(_ body: () throws -> Void) -> (code: Int, beneath: StoreError.Code?)? {
    do {
      try body()
      return nil
    } catch {
      let error = error as NSError
      return (error.code, (error.userInfo[NSUnderlyingErrorKey] as? StoreError)?.code)
    }
  }

  @Test("D12: A save whose sync fails throws and keeps its changes pending, and no later save succeeds.")
  func failedSync() throws {
    let subject = try Subject(machine, makeModel())
    subject.insert(1, isSpecial: false)
    try subject.save()
    subject.insert(2, isSpecial: false)
    files.failNext(.sync, with: .system(5))
    for _ in 0..<2 {
      let error = try #require(failure { try subject.save() })
      #expect(error.code == NSPersistentStoreSaveError && error.beneath == .poisoned)
      #expect(subject.perform { $0.insertedObjects.count } == 1)
    }
  }

  @Test("D12: A store added anew after a failed sync has every save that returned, and saves again.")
  func addedAnew() throws {
    let subject = try Subject(machine, makeModel())
    for serial in 1...5 {
      subject.insert(serial, isSpecial: false)
      try subject.save()
    }
    subject.insert(6, isSpecial: false)
    files.failNext(.sync, with: .system(5))
    #expect(throws: NSError.self) { try subject.save() }
    try? subject.close()

    let anew = try Subject(machine, makeModel())
    let found = try anew.count("Thing")
    #expect(found == 5 || found == 6)
    anew.insert(7, isSpecial: false)
    try anew.save()
    #expect(try anew.count("Thing") == found + 1)
  }
}

import Cairn
import CairnSimulation
import OpenCoreData
import Testing

@Suite struct IndexBuildingTests {
  @Test("After a power loss at any call of building or dropping indexes, they have exactly the objects of the rows.")
  func powerLoss() throws {
    let machine = SimulatedMachine(MemoryFileLayer(), seed: 1)
    let first = try Subject(machine, makeModel(hasIndexes: false))
    for serial in 0..<100 {
      first.insert(serial, isSpecial: serial.isMultiple(of: 3))
      let object = try first.object(serial) { _ in nil }
      first.perform { _ in
        object.setValue(serial % 7, forKey: "number")
        object.setValue("name \(serial)", forKey: "name")
      }
    }
    try first.save()
    try first.close()

    let power = PowerCut(seed: 1, oneIn: 4)
    power.watch(machine.files)
    defer { machine.files.gate = nil }
    var disks = 0
    for hasIndexes in [true, false, true] {
      try Subject(machine, makeModel(hasIndexes: hasIndexes)).close()
      for disk in power.takeDisks() {
        let survivor = try Subject(SimulatedMachine(disk.files, seed: 1), makeModel())
        try StoredGraph(try survivor.store.engine).check()
        try survivor.close()
        disks += 1
      }
    }
    #expect(disks > 10)
  }
}

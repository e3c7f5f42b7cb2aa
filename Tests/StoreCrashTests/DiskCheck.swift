import Cairn
import CairnSimulation
import OpenCoreData

/// Opens the store on a disk that a loss of power has left, and checks that it has one of the allowed states.
struct DiskCheck {
  private let disk: PowerCut.Disk
  private let states: [Graph]
  private let identifiers: GivenIdentifiers
  private let model: NSManagedObjectModel

  /// The largest number of objects to read one by one, which takes long.
  private static let mostRead = 24

  init(_ disk: PowerCut.Disk, _ states: [Graph], _ identifiers: GivenIdentifiers, _ model: NSManagedObjectModel) {
    self.disk = disk
    self.states = states
    self.identifiers = identifiers
    self.model = model
  }

  func run() throws {
    let subject = try Subject(SimulatedMachine(disk.files, seed: 1), model)
    defer { try? subject.close() }
    let stored = try StoredGraph(try subject.store.engine)
    try stored.check()
    let found = try stored.graph(identifiers.serials)
    guard states.contains(found) else {
      throw CrashFailure("this is no state there may be: \(found.difference(from: states.last ?? [:]))")
    }
    try checkCounts(subject, found)
    if found.count <= Self.mostRead {
      let read = try subject.graph(identifiers.serials)
      try require(read == found, "read by Core Data: \(read.difference(from: found))")
    }
    try goOn(subject, found)
  }

  private func checkCounts(_ subject: Subject, _ found: Graph) throws {
    func check(_ count: Int, _ what: String, _ isCounted: (GraphRow) -> Bool) throws {
      let expected = found.values.count(where: isCounted)
      try require(count == expected, "\(count) of \(what) were counted, not \(expected)")
    }
    try check(try subject.count("Thing"), "things") { _ in true }
    try check(try subject.count("Thing", includesSubentities: false), "plain things") { !$0.isSpecial }
    try check(try subject.count("Special"), "special things") { $0.isSpecial }
    try check(try subject.count("Thing", NSPredicate(format: "parent != nil")), "children") { !$0[.parent].isEmpty }
    try check(try subject.count("Thing", NSPredicate(format: "line.@count > 0")), "heads") { !$0[.line].isEmpty }
  }

  /// Checks that the store can be used normally: a new object gets an identifier that was not given out before the
  /// power failed.
  private func goOn(_ subject: Subject, _ found: Graph) throws {
    subject.insert(0, isSpecial: true)
    for (_, uri) in try subject.obtainIdentifiers() {
      let reference = try Subject.reference(uri)
      try require(
        !identifiers.contains(reference, among: disk.bounds.given), "the number \(reference) is given again")
    }
    try subject.save()
    let count = try subject.count("Thing")
    try require(count == found.count + 1, "there are \(count) things after one was added to \(found.count)")
  }
}

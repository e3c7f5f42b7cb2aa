import CairnSimulation
import Testing

@testable import Cairn

/// Power is lost, or the process stops, at every call of a backup.
@Suite struct BackupCrashTests {
  private static var options: StoreOptions {
    var options = Machine.options
    options.writesCheckpoints = false
    return options
  }

  private static func fill(_ store: Store, _ rows: Range<Int64>, round: UInt64) throws {
    let keyspace = try store.keyspace("rows")
    for row in rows {
      try store.put(.noise(3000, seed: UInt64(row) ^ round << 32), at: .integer(row), in: keyspace, .buffered)
    }
  }

  /// The state of the backup in a machine; nil if there is none.
  private static func backup(_ machine: Machine, at path: String = Machine.backup) throws -> StoreState? {
    do throws(StoreError) {
      let store = try machine.reader(at: path)
      defer { try? store.close() }
      return try? StoreState(store)
    } catch {
      guard error.code == .notFound || error.code == .notAStore else { throw error }
      return nil
    }
  }

  /// Collects the disks that a machine may find after a stop at each call of the file layer.
  private final class Stops: Sendable {
    private let found = Lock<[(call: String, machine: Machine)]>([])

    func watch(_ files: MemoryFileLayer, seed: UInt64) {
      let random = Lock(SplitMix64(seed: seed))
      files.gate = { [found] operation, path in
        let (lost, kept) = (files.crash(.lost).files, files.crash(.kept).files)
        let mixed = random.withLock { random in files.crash(using: &random) }
        var disks = [lost, kept, mixed, files.afterKill()].map { Machine($0, seed: 5) }
        if operation == .syncDirectory {
          // Each name alone may be lost.
          let decisions = files.crash(.kept).tally.decisions
          disks += (0..<decisions).map { Machine(files.crash(.init(.kept, exceptFor: $0)).files, seed: 5) }
        }
        found.withLock { found in found += disks.map { ("\(operation) \(path)", $0) } }
      }
    }

    var all: [(call: String, machine: Machine)] { found.withLock { $0 } }
  }

  /// Makes a backup and stops it at every call. Each disk then has one of the allowed states, and takes another backup.
  private func stopEverywhere(_ machine: Machine, allowed: [StoreState?], linksFiles: Bool) throws {
    let store = try machine.open(Self.options)
    let stops = Stops()
    stops.watch(machine.files, seed: chooseSeed())
    try store.backup(to: Machine.backup, linksFiles: linksFiles)
    machine.files.gate = nil
    let new = try StoreState(store)
    #expect(try Self.backup(machine) == new)
    #expect(stops.all.count > 60)
    var seen: Set<Int> = []
    for (call, next) in stops.all {
      let found = try Self.backup(next)
      let position = (allowed + [new]).firstIndex { $0 == found }
      #expect(position != nil, "neither the old nor the new backup after a stop at \(call)")
      if let position { seen.insert(position) }
      let source = try next.open(Self.options)
      try source.backup(to: Machine.backup, linksFiles: linksFiles)
      #expect(try Self.backup(next) == StoreState(source), "another backup after a stop at \(call)")
      try source.close()
    }
    #expect(seen.count == allowed.count + 1)
  }

  @Test(
    "D29: Wherever a first backup stops, there is none or a whole one; the next one succeeds.",
    arguments: [true, false])
  func first(linksFiles: Bool) throws {
    let machine = Machine()
    let store = try machine.open(Self.options)
    try Self.fill(store, 0..<60, round: 0)
    try store.close()
    try stopEverywhere(machine, allowed: [nil], linksFiles: linksFiles)
  }

  @Test("D29: Wherever a later backup stops, there is the earlier one or the new one.", arguments: [true, false])
  func later(linksFiles: Bool) throws {
    let machine = Machine()
    let store = try machine.open(Self.options)
    try Self.fill(store, 0..<60, round: 0)
    try store.backup(to: Machine.backup, linksFiles: linksFiles)
    let old = try StoreState(store)
    try Self.fill(store, 20..<70, round: 1)
    try store.compact()
    try Self.fill(store, 65..<75, round: 2)
    try store.close()
    try stopEverywhere(machine, allowed: [old], linksFiles: linksFiles)
  }

  @Test("D29: Whichever call of a backup fails, there is the earlier one or the new one; the next one succeeds.")
  func failures() throws {
    let operations = MemoryFileLayer.Operation.allCases.filter { $0 != .link && $0 != .map }
    for operation in operations {
      for isFirst in [true, false] {
        for count in 0... {
          let machine = Machine()
          let store = try machine.open(Self.options)
          try Self.fill(store, 0..<45, round: 0)
          try store.sync()
          var old: StoreState?
          if !isFirst {
            try store.backup(to: Machine.backup, linksFiles: false)
            old = try StoreState(store)
            try Self.fill(store, 20..<50, round: 1)
            try store.compact()
          }
          let calls = machine.files.count(of: operation)
          machine.files.failNext(operation, after: count, with: .noSpace)
          let error = failure { try store.backup(to: Machine.backup, linksFiles: false) }
          let isOver = machine.files.count(of: operation) - calls <= count
          guard !isOver else {
            #expect(error == nil)
            break
          }
          let (found, new) = (try Self.backup(machine), try StoreState(store))
          #expect(found == old || found == new, "\(operation) \(count): \(String(describing: error))")
          if isFirst, operation == .reserve {
            #expect(try !machine.files.list("/").contains("backup"), "space was missing, and something is left")
          }
          let next = machine.crash()
          let source = try next.open(Self.options)
          try source.backup(to: Machine.backup)
          #expect(try Self.backup(next) == StoreState(source), "\(operation) \(count)")
        }
      }
    }
  }

  @Test("D30: Wherever a restoration stops, there is no store or a whole one.") func restoring() throws {
    let machine = Machine()
    let store = try machine.open(Self.options)
    try Self.fill(store, 0..<60, round: 0)
    try store.backup(to: Machine.backup)
    let expected = try StoreState(store)
    let stops = Stops()
    stops.watch(machine.files, seed: chooseSeed())
    try machine.restore(to: "/restored")
    machine.files.gate = nil
    var states: Set<Bool> = []
    for (call, next) in stops.all {
      let found = try Self.backup(next, at: "/restored")
      #expect(found == nil || found == expected, "after a stop at \(call)")
      states.insert(found == nil)
    }
    #expect(states == [true, false])
  }
}

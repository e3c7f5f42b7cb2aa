import CoreData
import Foundation
import RemoteIncrementalStore
import Synchronization

/// A store of a program, with one context.
final class ProgramStore {
  let index: Int
  private let service: SimulatedService
  private let policy: RemoteProgram.Policy
  private let root: URL
  private var incarnation = 0
  private(set) var url: URL
  private(set) var coordinator: NSPersistentStoreCoordinator
  private(set) var store: RemoteIncrementalStore
  private(set) var context: NSManagedObjectContext
  /// The values saved of each attribute, in their order, by the token of its object.
  var saved: [String: [String: [RemoteValue]]] = [:]
  /// Tokens of objects that were deleted here, or a change of which was discarded.
  var excused: Set<String> = []
  /// Requests of the application that it does not wait for.
  var tasks: [Task<Void, Never>] = []

  var client: Int { index * 1000 + incarnation }

  init(_ index: Int, _ service: SimulatedService, _ policy: RemoteProgram.Policy, root: URL) throws {
    (self.index, self.service, self.policy, self.root) = (index, service, policy, root)
    url = root.appending(path: "store \(index).0")
    (coordinator, store, context) = try Self.open(url, service.client(index * 1000), policy)
  }

  private static func open(
    _ url: URL, _ client: SimulatedClient, _ policy: RemoteProgram.Policy
  ) throws -> (NSPersistentStoreCoordinator, RemoteIncrementalStore, NSManagedObjectContext) {
    let (coordinator, store) = try addRemoteStore(
      at: url, client,
      policy: {
        switch policy {
        case .serviceWins: .serviceWins
        case .applicationWins: .applicationWins
        case .byProperty: .byProperty
        }
      }())
    return (coordinator, store, makeContext(coordinator))
  }

  private static func makeContext(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    return context
  }

  func forget() { context = Self.makeContext(coordinator) }

  func close() throws { try coordinator.remove(store) }

  func reopen() throws {
    try close()
    try openAgain()
  }

  private func openAgain() throws {
    incarnation += 1
    (coordinator, store, context) = try Self.open(url, service.client(client), policy)
  }

  /// Goes on with the files as they were at one moment, as after the end of the process.
  func kill() throws {
    let (former, formerCoordinator, formerURL) = (store, coordinator, url)
    let copy = root.appending(path: "store \(index).\(incarnation + 1)")
    try copyAtOneMoment(url, to: copy)
    service.kill(client)
    url = copy
    try openAgain()
    try formerCoordinator.remove(former)
    try FileManager.default.removeItem(at: formerURL)
  }

  /// Copies a folder; again, if it has changed meanwhile.
  private func copyAtOneMoment(_ url: URL, to copy: URL) throws {
    while true {
      let before = try Self.contents(url)
      try? FileManager.default.removeItem(at: copy)
      try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
      for (name, bytes) in before where name != "LOCK" { try bytes.write(to: copy.appending(path: name)) }
      if try Self.contents(url) == before { return }
    }
  }

  private static func contents(_ url: URL) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
      contents[name] = try? Data(contentsOf: url.appending(path: name))
    }
    return contents
  }
}

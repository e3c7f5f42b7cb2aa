import ArgumentParser
import CairnIncrementalStore
import Foundation
import OpenCoreData
import RemoteIncrementalStore

/// Measures what a service below a store costs.
@main
struct Remote: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures fetches over a service beside the same without one, refreshes, and faults.",
    discussion: """
      The service is in this process. Fetches find 50 objects, in a context that has none, by a declared index and as \
      the first of all; the lists are fresh, so no request is made. A refresh reads all pages of the list, or is \
      answered with the version of the list. Faults are read one after the other from a service that takes 20 ms for \
      each answer.
      """)

  @Option(help: "Objects of the service.")
  var objects = 100_000

  @Option(help: "Rounds.")
  var rounds = 5

  @Option(help: "Objects that are faults.")
  var faults = 500

  @Option(help: "Where the stores are made, and removed in the end.")
  var directory = FileManager.default.temporaryDirectory.path

  func validate() throws {
    guard objects >= 1000, rounds > 0, faults > 0 else {
      throw ValidationError("There are at least 1,000 objects, one round and one fault.")
    }
  }

  func run() async throws {
    let url = URL(filePath: directory).appending(path: "remote \(ProcessInfo.processInfo.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: url) }
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try await measureFetches(url)
    try await measureFaults(url)
  }

  // MARK: Stores

  private static func model() -> NSManagedObjectModel {
    let bug = NSEntityDescription()
    bug.name = "Bug"
    bug.properties = [
      ("number", .integer64AttributeType), ("title", .stringAttributeType), ("isOpen", .booleanAttributeType),
    ]
    .map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType) = (name, type)
      return attribute
    }
    if let number = bug.attributesByName["number"] {
      bug.indexes = [
        NSFetchIndexDescription(
          name: "number", elements: [NSFetchIndexElementDescription(property: number, collationType: .binary)])
      ]
    }
    let model = NSManagedObjectModel()
    model.entities = [bug]
    return model
  }

  private static func open(_ description: NSPersistentStoreDescription) throws -> NSManagedObjectContext {
    guard let url = description.url else { throw ValidationError("The store has no place.") }
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model())
    var options = description.options as [AnyHashable: Any]
    options[CairnDurabilityOption] = "buffered"
    _ = try coordinator.addPersistentStore(
      type: NSPersistentStore.StoreType(rawValue: description.type), at: url, options: options)
    let context = NSManagedObjectContext(.privateQueue)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  private static func remote(_ context: NSManagedObjectContext) throws -> RemoteIncrementalStore {
    guard let store = context.persistentStoreCoordinator?.persistentStores.first as? RemoteIncrementalStore else {
      throw ValidationError("The store is not over a service.")
    }
    return store
  }

  private static func request(_ predicate: NSPredicate? = nil) -> NSFetchRequest<NSManagedObject> {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
    request.predicate = predicate
    request.fetchLimit = predicate == nil ? 50 : 0
    return request
  }

  // MARK: Fetches and refreshes

  private func measureFetches(_ url: URL) async throws {
    let context = try Self.open(.remote(at: url.appending(path: "remote"), BugService(count: objects)))
    let store = try Self.remote(context)
    let all = NSFetchRequest<NSManagedObject>(entityName: "Bug")
    let clock = ContinuousClock()
    let first = try await clock.measure { try await store.refresh(all) }
    let alone = try Self.open(.cairn(at: url.appending(path: "alone")))
    try await alone.perform { try insert(alone) }
    print("\(objects) objects, median of \(rounds) rounds, least and most\n")
    print(Self.line(["", "median", "least", "most"]))
    print(Self.line(["first refresh, s", Self.format(Self.seconds(first)), "", ""]))
    var again: [Double] = []
    for _ in 0..<rounds { again.append(Self.seconds(try await clock.measure { try await store.refresh(all) })) }
    print(Self.line(["the same, unchanged by tags, s"] + Self.figures(again)))

    let middle = Int64(objects / 2)
    let byIndex = NSPredicate(format: "number >= %d AND number < %d", Int(middle), Int(middle) + 50)
    for (name, predicate) in [("50 by an index", byIndex), ("the first 50", nil)] {
      var (with, without): ([Double], [Double]) = ([], [])
      for _ in 0..<rounds {
        with.append(try await fetch(Self.request(predicate), context))
        without.append(try await fetch(Self.request(predicate), alone))
      }
      print(Self.line(["\(name), over a service, µs"] + Self.figures(with)))
      print(Self.line(["\(name), without, µs"] + Self.figures(without)))
      print(Self.line(["  times", Self.format(Self.median(with) / Self.median(without)), "", ""]))
    }
  }

  private func insert(_ context: NSManagedObjectContext) throws {
    for start in stride(from: 0, to: objects, by: 1000) {
      for number in start..<min(objects, start + 1000) {
        let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
        bug.setValue(Int64(number), forKey: "number")
        bug.setValue("Bug \(number) of many, with a title of the usual length", forKey: "title")
        bug.setValue(number % 3 == 0, forKey: "isOpen")
      }
      try context.save()
      context.reset()
    }
  }

  /// Microseconds for a fetch, with the values of all objects; the median of 200.
  private func fetch(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) async throws
    -> Double
  {
    try await context.perform {
      let clock = ContinuousClock()
      var times: [Double] = []
      for _ in 0..<200 {
        context.reset()
        let time = try clock.measure {
          for bug in try context.fetch(request) { _ = bug.value(forKey: "title") }
        }
        times.append(Self.seconds(time) * 1e6)
      }
      return Self.median(times)
    }
  }

  // MARK: Faults

  private func measureFaults(_ url: URL) async throws {
    let service = BugService(count: faults, listsIdentifiers: true, delay: .milliseconds(20))
    let context = try Self.open(.remote(at: url.appending(path: "faults"), service))
    let store = try Self.remote(context)
    let all = NSFetchRequest<NSManagedObject>(entityName: "Bug")
    try await store.refresh(all)
    let clock = ContinuousClock()
    let together = try await clock.measure {
      try await context.perform { for bug in try context.fetch(all) { _ = bug.value(forKey: "title") } }
    }
    let alone = try await clock.measure {
      for number in 0..<faults {
        _ = try await service.records([RemoteReference(RemoteIdentifier("Bug", "\(number)"))])
      }
    }
    print("\n\(faults) faults of a service that takes 20 ms for an answer, seconds\n")
    print(Self.line(["read one after the other", Self.format(Self.seconds(together)), "", ""]))
    print(Self.line(["asked for one by one, without a store", Self.format(Self.seconds(alone)), "", ""]))
  }

  // MARK: Figures

  private static func seconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private static func format(_ value: Double) -> String { String(format: value < 10 ? "%.2f" : "%.1f", value) }

  private static func figures(_ values: [Double]) -> [String] {
    [median(values), values.min() ?? 0, values.max() ?? 0].map(format)
  }

  private static func line(_ columns: [String]) -> String {
    columns[0].padding(toLength: 40, withPad: " ", startingAt: 0)
      + columns.dropFirst().map { String(repeating: " ", count: max(1, 10 - $0.count)) + $0 }.joined()
  }
}

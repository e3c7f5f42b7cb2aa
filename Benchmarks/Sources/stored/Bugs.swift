import CairnIncrementalStore
import OpenCoreData

/// A list of bugs that is too long to load: it is opened and read page by page.
struct Bugs {
  let count: Int
  private let url: URL

  init(count: Int, at url: URL) {
    self.count = count
    self.url = url
  }

  func measure(into table: inout FigureTable) throws {
    try fill(&table)
    let anonymous = Memory.anonymousBytes
    let (container, opened) = try time(1) { try Self.container(at: url) }
    table.add("\(count) bugs opened", [opened / 1e6], "ms")
    let context = container.viewContext
    let store = container.persistentStoreCoordinator.persistentStores[0] as! CairnIncrementalStore
    let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
    request.fetchLimit = 100
    var pages: [Double] = []
    var seen = 0
    // A thousand pages from the beginning, and a thousand from the middle.
    for offset in [0, count / 2] {
      request.fetchOffset = offset
      request.predicate = nil
      var (page, each) = try time(1) { try context.fetch(request) }
      if offset > 0 { table.add("the first page after an offset of \(offset)", [each / 1e6], "ms") }
      request.fetchOffset = 0
      for _ in 0..<min(1000, count / 300) {
        seen += page.count
        precondition(page.allSatisfy { ($0.value(forKey: "title") as! String).hasPrefix("Bug") })
        guard let last = page.last else { break }
        request.predicate = NSPredicate(format: "SELF > %@", last.objectID)
        (page, each) = try time(1) { try context.fetch(request) }
        pages.append(each / 1e6)
      }
    }
    precondition(seen > 0)
    table.add("a page of 100, by key", pages, "ms")
    let index = store.statistics!.indexBytes
    let used = Memory.anonymousBytes - anonymous
    table.add("index memory, a bug", [Double(index) / Double(count)], "bytes", goal: 38)
    table.add(
      "memory of the process more than the index", [Double(max(0, used - index)) / Double(1 << 20)], "MiB", goal: 64)
    let sorted = NSFetchRequest<NSManagedObject>(entityName: "Bug")
    sorted.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
    sorted.fetchLimit = 100
    for offset in [0, 100_000] {
      sorted.fetchOffset = offset
      let (_, each) = try time(1) { try context.fetch(sorted) }
      table.add("a page sorted by title, after \(offset)", [each / 1e9], "s")
    }
  }

  private func fill(_ table: inout FigureTable) throws {
    let container = try Self.container(at: url)
    var figures: [Double] = []
    for start in stride(from: 0, to: count, by: 10_000) {
      let context = container.newBackgroundContext()
      figures.append(
        try time(10_000) {
          try context.performAndWait {
            for number in start..<min(count, start + 10_000) {
              let bug = NSEntityDescription.insertNewObject(forEntityName: "Bug", into: context)
              bug.setValue("Bug \(number % 977) of \(number)", forKey: "title")
            }
            try context.save()
          }
        }.each)
    }
    table.add("a bug inserted and saved, 10,000 a save", figures, "ns")
    let coordinator = container.persistentStoreCoordinator
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }

  private static func container(at url: URL) throws -> NSPersistentContainer {
    let bug = NSEntityDescription()
    bug.name = "Bug"
    let title = NSAttributeDescription()
    title.name = "title"
    title.attributeType = .stringAttributeType
    bug.properties = [title]
    let model = NSManagedObjectModel()
    model.entities = [bug]
    let container = NSPersistentContainer(name: "Bugs", managedObjectModel: model)
    let description = NSPersistentStoreDescription.cairn(at: url)
    description.setOption(NSString("buffered"), forKey: CairnDurabilityOption)
    container.persistentStoreDescriptions = [description]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }
}

/// The memory of the process.
enum Memory {
  /// Bytes without the pages of mapped files, which the system takes back when it needs them.
  static var anonymousBytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    return (line?.split(separator: " ").compactMap { Int($0) }.first ?? 0) * 1024
  }
}

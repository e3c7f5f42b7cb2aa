import CoreData
import Foundation
import IncrementalStore
import RemoteIncrementalStore
import Synchronization
import Testing

#if os(Linux)
  @Suite("Memory of a store over a service")
  struct MemoryTests {
    @Test("Ten thousand refreshes, and as many changes that are sent, leave no memory behind.") func rounds() async {
      await #expect(processExitsWith: .success) {
        let url = FileManager.default.temporaryDirectory.appending(path: "memory \(UUID().uuidString)")
        let (coordinator, store) = try addRemoteStore(
          at: url, Notebook(), [RemoteSendsByHandOption: true, HistoryMaximumCountOption: 100])
        func round(_ number: Int) async throws {
          let request = NSFetchRequest<NSManagedObject>(entityName: "Bug")
          try await store.refresh(request)
          let context = RemoteFixture.context(coordinator)
          try await context.perform {
            let bugs = try context.fetch(request)
            guard bugs.count == Notebook.count else { fatalError("\(bugs.count) objects were read") }
            bugs[number % bugs.count].setValue("here \(number)", forKey: "title")
            try context.save()
          }
          await store.sendChanges()
          guard try store.unsentChanges.isEmpty else { fatalError("the change was not sent") }
        }
        for number in 0..<500 { try await round(number) }
        let before = try ownBytes()
        for number in 0..<10_000 { try await round(number) }
        let left = try ownBytes() - before
        guard left < 2 << 20 else { fatalError("\(left) bytes are left of 10,000 rounds") }
        try coordinator.remove(store)
        try FileManager.default.removeItem(at: url)
      }
    }
  }

  /// The memory of the process in bytes, without pages of files: the log is mapped, and its pages are not left behind.
  private func ownBytes() throws -> Int {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
      .compactMap { Int($0) }
    try #require(pages.count > 2)
    return (pages[1] - pages[2]) * sysconf(Int32(_SC_PAGESIZE))
  }

  /// A service with two objects, one of which it changes whenever they are listed.
  private final class Notebook: RemoteService {
    static let count = 2
    private let pages = Atomic(0)
    private let titles = Mutex<[String: RemoteValue]>([:])

    func query(for fetch: RemoteFetch) -> RemoteQuery? {
      fetch.entityName == "Bug" ? RemoteQuery("bugs", isExhaustive: true) : nil
    }

    func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) async throws -> RemotePage {
      let number = pages.add(1, ordering: .relaxed).newValue
      return titles.withLock { titles in
        titles["\(number % Self.count)"] = .string("there \(number)")
        return RemotePage(
          (0..<Self.count).map { Self.record("\($0)", titles["\($0)"] ?? .null) }, freshFor: .seconds(60))
      }
    }

    func send(_ changes: [RemoteChange]) async throws -> [RemoteOutcome] {
      changes.map { change in
        guard let identifier = change.identifier, let title = change.values["title"] else {
          return .refused("no title")
        }
        titles.withLock { $0[identifier.value] = title }
        return .accepted(Self.record(identifier.value, title))
      }
    }

    private static func record(_ identifier: String, _ title: RemoteValue) -> RemoteRecord {
      let others = ["state", "priority", "token", "serial", "assignee"].map { ($0, RemoteValue.null) }
      return RemoteRecord(
        RemoteIdentifier("Bug", identifier), values: ["title": title].merging(others) { title, _ in title })
    }
  }
#endif

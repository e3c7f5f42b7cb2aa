import RemoteIncrementalStore

/// A service in memory: numbered bugs, in pages, with versions.
struct BugService: RemoteService {
  let count: Int
  /// Whether a list has only identifiers.
  var listsIdentifiers = false
  /// How long each answer takes.
  var delay: Duration = .zero
  /// The version of the list of all bugs; nil for none.
  var listTag: String?

  private static let pageSize = 1000

  func query(for fetch: RemoteFetch) -> RemoteQuery? { RemoteQuery("bugs", isExhaustive: true) }

  func page(of query: RemoteQuery, after cursor: String?, ifNot tag: String?) async throws -> RemotePage {
    if delay > .zero { try await Task.sleep(for: delay) }
    if let tag, tag == listTag { return .unchanged }
    let first = cursor.flatMap { Int($0) } ?? 0
    let end = min(count, first + Self.pageSize)
    let records = (first..<end).map { number in
      listsIdentifiers ? RemoteRecord(RemoteIdentifier("Bug", "\(number)")) : record(number)
    }
    return RemotePage(records, next: end < count ? "\(end)" : nil, tag: listTag)
  }

  func records(_ wanted: [RemoteReference]) async throws -> RemoteRecords {
    if delay > .zero { try await Task.sleep(for: delay) }
    return RemoteRecords(wanted.compactMap { Int($0.identifier.value).map(record) })
  }

  private func record(_ number: Int) -> RemoteRecord {
    RemoteRecord(
      RemoteIdentifier("Bug", "\(number)"), tag: "1",
      values: [
        "number": .integer(Int64(number)), "title": .string("Bug \(number) of many, with a title of the usual length"),
        "isOpen": .bool(number % 3 == 0),
      ])
  }

  func freshness(of entityName: String) -> RemoteFreshness? { .refreshing(ifOlderThan: 1e9) }
}

import Foundation
import Hummingbird

extension BugTracker {
  func show(_ id: Int) throws -> Answer {
    guard let bug = bugs[id] else { throw Answer.notFound(id) }
    return try .bug(bug)
  }

  /// A page of a list. `Link` leads to the next one, and the tag is that of the tracker as a whole.
  func list(_ query: ListQuery) throws -> Answer {
    var headers = ["ETag": "\"r\(revision)\""]
    if let ids = query.ids {
      return try .json(ids.compactMap { bugs[$0] }.filter(query.matches), headers: headers)
    }
    let index = query.order == .title ? byTitle : byCreation
    // One more than the page has tells whether there is another page.
    let found =
      query.isDescending
      ? first(query.count + 1, index.descending(before: query.after), query)
      : first(query.count + 1, index.ascending(after: query.after), query)
    let page = found.prefix(query.count)
    if found.count > page.count, let last = page.last {
      let key = query.order == .title ? last.title : last.createdAt
      headers["Link"] = "<\(query.path(after: key, last.id))>; rel=\"next\""
    }
    return try .json(Array(page), headers: headers)
  }

  private func first(
    _ count: Int, _ entries: some Sequence<SortedIndex<String>.Entry>, _ query: ListQuery
  ) -> [Bug] {
    var found: [Bug] = []
    for entry in entries where found.count < count {
      if let bug = bugs[entry.id], query.matches(bug) { found.append(bug) }
    }
    return found
  }

  /// What has changed since a revision; nothing but the present revision if there is none to begin with. A revision
  /// that does not exist is gone: the tracker was made anew.
  func changes(since start: Int?) throws -> Answer {
    guard let start else { return try .json(Changes(cursor: revision)) }
    guard start <= revision else { throw Answer.error(410, "There is no revision \(start).") }
    let entries = byRevision.ascending(after: .init(key: start, id: .max))
    let page = entries.prefix(500)
    var changes = Changes(cursor: page.last?.key ?? revision, more: page.count < entries.count)
    for entry in page {
      if let bug = bugs[entry.id] { changes.bugs.append(bug) } else { changes.deleted.append(entry.id) }
    }
    return try .json(changes)
  }
}

/// An answer to the question what has changed.
struct Changes: Encodable {
  var bugs: [Bug] = []
  var deleted: [Int] = []
  var cursor: Int
  var more = false
}

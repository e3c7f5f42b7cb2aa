import Foundation

/// All bugs, in memory, with indexes for the orders of lists. A change is in the journal before anybody sees it.
actor BugTracker {
  private let journal: Journal
  private(set) var bugs: [Int: Bug] = [:]
  private(set) var byCreation = SortedIndex<String>()
  private(set) var byTitle = SortedIndex<String>()
  /// The last revision of each bug that was ever changed, also of those that were deleted.
  private(set) var byRevision = SortedIndex<Int>()
  private var revisions: [Int: Int] = [:]
  /// Counts the changes.
  private(set) var revision = 0
  private var lastID = 0

  init(_ journal: Journal) throws {
    self.journal = journal
    if journal.sampleCount > 0 { for id in 1...journal.sampleCount { bugs[id] = Bug.sample(id) } }
    let entries = try journal.entries()
    for entry in entries {
      bugs[entry.id] = entry.bug
      revisions[entry.id] = entry.revision
    }
    revision = revisions.values.max() ?? 0
    lastID = max(journal.sampleCount, revisions.keys.max() ?? 0)
    byCreation = SortedIndex(bugs.values.map { .init(key: $0.createdAt, id: $0.id) })
    byTitle = SortedIndex(bugs.values.map { .init(key: $0.title, id: $0.id) })
    byRevision = SortedIndex(revisions.map { .init(key: $0.value, id: $0.key) })
  }

  func add(_ change: BugChange, key: String?) throws -> Answer {
    try once(key) {
      var bug = Bug(
        id: lastID + 1, title: "", state: .open, createdAt: Date.now.formatted(.iso8601), version: revision + 1)
      try change.apply(to: &bug)
      var answer = try Answer.bug(bug, status: 201)
      answer.headers["Location"] = "/bugs/\(bug.id)"
      return (bug.id, bug, answer)
    }
  }

  func edit(_ id: Int, _ change: BugChange, ifMatch tag: String?, key: String?) throws -> Answer {
    try once(key) {
      var bug = try bug(id, ifMatch: tag)
      try change.apply(to: &bug)
      bug.version = revision + 1
      return (id, bug, try Answer.bug(bug))
    }
  }

  func delete(_ id: Int, ifMatch tag: String?, key: String?) throws -> Answer {
    try once(key) {
      _ = try bug(id, ifMatch: tag)
      return (id, nil, Answer(status: 204))
    }
  }

  /// - Throws: the answer 404, or 412 with the present bug.
  private func bug(_ id: Int, ifMatch tag: String?) throws -> Bug {
    guard let bug = bugs[id] else { throw Answer.notFound(id) }
    guard tag == nil || tag == "*" || tag == bug.tag else { throw try Answer.bug(bug, status: 412) }
    return bug
  }

  /// Makes a change, unless it was made before with the same key. Keys are kept for ever.
  private func once(_ key: String?, _ change: () throws -> (id: Int, bug: Bug?, Answer)) throws -> Answer {
    if let key, let answer = try journal.answer(to: key) { return answer }
    let (id, bug, answer) = try change()
    let entry = Journal.Entry(id: id, revision: revision + 1, bug: bug)
    try journal.write(entry, key, answer)
    apply(entry)
    return answer
  }

  private func apply(_ entry: Journal.Entry) {
    if let old = bugs[entry.id] {
      byCreation.remove(old.createdAt, old.id)
      byTitle.remove(old.title, old.id)
    }
    if let old = revisions[entry.id] { byRevision.remove(old, entry.id) }
    if let bug = entry.bug {
      byCreation.insert(bug.createdAt, bug.id)
      byTitle.insert(bug.title, bug.id)
    }
    byRevision.insert(entry.revision, entry.id)
    bugs[entry.id] = entry.bug
    revisions[entry.id] = entry.revision
    (revision, lastID) = (entry.revision, max(lastID, entry.id))
  }

  func close() throws { try journal.close() }
}

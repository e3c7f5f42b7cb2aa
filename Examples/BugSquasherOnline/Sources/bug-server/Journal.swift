import Cairn
import Foundation

/// What the disk has of a tracker: the bugs that were ever changed, and the answers to all changes by their
/// idempotency keys. A change and its answer are one durable batch.
struct Journal {
  /// A bug as it was after a revision; nil if it was deleted.
  struct Entry: Codable {
    let id: Int
    let revision: Int
    let bug: Bug?
  }

  private let store: Store
  private let bugs: Keyspace
  private let answers: Keyspace
  /// How many bugs the tracker had when it was new.
  let sampleCount: Int

  init(at url: URL, sampleCount: Int) throws {
    store = try Store.open(at: url.path())
    (bugs, answers) = (try store.keyspace("bugs"), try store.keyspace("answers"))
    let settings = try store.keyspace("settings")
    self.sampleCount = try settings.update("bugs", as: String.self) { value in
      let count = value.flatMap { Int($0) } ?? sampleCount
      value = "\(count)"
      return count
    }
  }

  func entries() throws -> [Entry] {
    try bugs.rows().map { try JSONDecoder().decode(Entry.self, from: Data($0.value)) }
  }

  func answer(to key: String) throws -> Answer? {
    try answers.get(key).map { try JSONDecoder().decode(Answer.self, from: Data($0)) }
  }

  func write(_ entry: Entry, _ key: String?, _ answer: Answer) throws {
    let encoder = JSONEncoder()
    let (row, kept) = (try encoder.encode(entry), try encoder.encode(answer))
    try store.write { batch in
      try bugs.put([UInt8](row), at: entry.id, in: &batch)
      if let key { try answers.put([UInt8](kept), at: key, in: &batch) }
    }
  }

  func close() throws { try store.close() }
}

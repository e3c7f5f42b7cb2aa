import Cairn
import CairnInspection

/// The names of the Core Data objects in a store that a process may be writing to.
struct LiveNames {
  /// Nil if there are no such objects, or if the store does not open or its schema cannot be read.
  private(set) var names: ObjectNames?
  private let path: String
  /// The last commit that the names take into account.
  private var lastSequence: CommitSequence = 0

  init(at path: String) {
    self.path = path
    if let store = try? Watched.store(path) { read(store) }
  }

  /// Reads the names again if a new commit may have changed them.
  mutating func update(after commit: LoggedCommit) {
    guard commit.sequence > lastSequence, ObjectNames.mayChange(in: commit) else { return }
    if let store = try? Store.openForInspection(at: path) { read(store) }
  }

  private mutating func read(_ store: Store) {
    defer { try? store.close() }
    lastSequence = store.recovery.lastSequence
    names = ObjectNames.read(from: store)
  }
}

import CoreData
import RemoteIncrementalStore

/// A change that waits, in words.
struct UnsentChange: Sendable {
  let id: Int64
  let objectID: NSManagedObjectID
  let kind: String
  /// What the bug is called; `-` if it was deleted.
  var name: String
  let title: String
  let state: String
}

extension Session {
  func unsentChanges() async throws -> [UnsentChange] {
    let changes = try store.unsentChanges
    return await container.performBackgroundTask { context in
      changes.map { change in
        let bug = change.kind == .delete ? nil : try? context.existingObject(with: change.objectID) as? Bug
        return UnsentChange(
          id: change.id, objectID: change.objectID, kind: change.kind.word,
          name: bug.map { "\(BugName($0))" } ?? "-", title: bug?.title ?? "", state: change.state.words)
      }
    }
  }

  /// What the bugs of changes are called now, and how they are, in words.
  func present(_ changes: [UnsentChange]) async -> [(name: String, words: String)] {
    await container.performBackgroundTask { context in
      changes.map { change in
        guard let bug = try? context.existingObject(with: change.objectID) as? Bug else {
          return (change.name, "deleted")
        }
        return ("\(BugName(bug))", "\(bug.state ?? "") and called '\(bug.title ?? "")'")
      }
    }
  }
}

extension RemoteChange.Kind {
  var word: String {
    switch self {
    case .insert: "add"
    case .update: "edit"
    case .delete: "delete"
    }
  }
}

extension RemoteUnsentChange.State {
  var words: String {
    switch self {
    case .waiting: "waiting"
    case .sent: "sent, not answered"
    case .refused(let reason): "refused: \(reason)"
    case .unknown: "unknown"
    }
  }
}

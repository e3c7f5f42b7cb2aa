import CoreData
import RemoteIncrementalStore

/// What has become of the changes that waited, when the server was asked.
struct Delivery {
  enum Outcome: Equatable {
    case sent
    /// The service's change counts: this is how the bug is now.
    case conflict(String)
    case refused(String)
    case waiting
  }

  struct Item {
    let change: UnsentChange
    let outcome: Outcome
  }

  var items: [Item] = []
  /// Why changes wait.
  var failure: String?
  /// Whether the server has told what has changed.
  var isUpToDate = false

  func count(_ isCounted: (Outcome) -> Bool) -> Int { items.count { isCounted($0.outcome) } }

  /// Why a command has not done what it was told; nil if it has, or if its change waits.
  var complaint: String? {
    for item in items {
      switch item.outcome {
      case .conflict(let present):
        return "Somebody else was faster: bug \(item.change.name) is now \(present)."
      case .refused(let reason): return "The server refuses the change: \(reason)"
      case .sent, .waiting: continue
      }
    }
    return nil
  }
}

extension Session {
  /// Sends what waits, reads what has changed, and closes the store, so that no event is left.
  func deliver() async throws -> Delivery {
    let events = store.events
    let listener = Task {
      var all: [RemoteEvent] = []
      for await event in events { all.append(event) }
      return all
    }
    let changes = try await unsentChanges()
    await store.sendChanges()
    let isUpToDate = await catchUp()
    let left = try store.unsentChanges
    let present = await present(changes)
    try await close()

    var delivery = Delivery(isUpToDate: isUpToDate)
    var conflicts: Set<NSManagedObjectID> = []
    for event in await listener.value {
      if case .conflict(let id) = event { conflicts.insert(id) }
      if case .sendingFailed(_, let error) = event { delivery.failure = "\(error)" }
    }
    for (var change, present) in zip(changes, present) {
      change.name = present.name
      let outcome: Delivery.Outcome =
        switch left.first(where: { $0.id == change.id })?.state {
        case .refused(let reason)?: .refused(reason)
        case .some: .waiting
        case nil: conflicts.contains(change.objectID) ? .conflict(present.words) : .sent
        }
      delivery.items.append(Delivery.Item(change: change, outcome: outcome))
    }
    return delivery
  }

  /// What a command that has made one change prints: what it has done, or why that waits.
  func finish(_ done: String) async throws {
    guard isOnline else { return print("\(done); this waits for 'bugs sync'") }
    let delivery = try await deliver()
    if let complaint = delivery.complaint { throw Failure(description: complaint) }
    guard delivery.count({ $0 == .waiting }) == 0 else {
      if let failure = delivery.failure { note("\(failure).") }
      return print("\(done); this waits for 'bugs sync'")
    }
    print(done)
  }
}

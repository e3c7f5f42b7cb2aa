import CoreData
import RemoteIncrementalStore

/// What has become of the changes that waited, when the server was asked.
struct Delivery {
  enum Outcome: Equatable {
    case sent, conflict
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

  func count(_ isCounted: (Outcome) -> Bool) -> Int { items.count { isCounted($0.outcome) } }

  /// Why a command has not done what it was told; nil if it has, or if its change waits.
  var complaint: String? {
    for item in items {
      switch item.outcome {
      case .conflict:
        return "Bug \(item.change.name) was changed by somebody else meanwhile, whose change counts. See 'bugs show'."
      case .refused(let reason): return "The server refuses the change: \(reason)."
      case .sent, .waiting: continue
      }
    }
    return nil
  }
}

extension Session {
  /// Sends what waits, and closes the store, so that no event is left.
  func deliver() async throws -> Delivery {
    let events = store.events
    let listener = Task {
      var all: [RemoteEvent] = []
      for await event in events { all.append(event) }
      return all
    }
    let changes = try await unsentChanges()
    await store.sendChanges()
    let left = try store.unsentChanges
    let names = try await names(of: changes)
    try await close()

    var delivery = Delivery()
    var conflicts: Set<NSManagedObjectID> = []
    for event in await listener.value {
      if case .conflict(let id) = event { conflicts.insert(id) }
      if case .sendingFailed(_, let error) = event { delivery.failure = "\(error)" }
    }
    for (var change, name) in zip(changes, names) {
      change.name = name
      let outcome: Delivery.Outcome =
        switch left.first(where: { $0.id == change.id })?.state {
        case .refused(let reason)?: .refused(reason)
        case .some: .waiting
        case nil: conflicts.contains(change.objectID) ? .conflict : .sent
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

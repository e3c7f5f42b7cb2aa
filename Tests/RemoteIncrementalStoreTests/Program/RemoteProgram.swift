import CairnSimulation
import RemoteIncrementalStore

/// A random sequence of steps on several stores over one service.
struct RemoteProgram: Sendable {
  let seed: UInt64
  let options: ServiceOptions
  let policy: Policy
  let storeCount: Int
  var steps: [RemoteStep]

  enum Policy: CaseIterable, Sendable {
    case serviceWins, applicationWins, byProperty
  }

  init(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    self.seed = seed
    options = ServiceOptions(using: &random)
    policy = Policy.allCases.randomElement(using: &random) ?? .serviceWins
    storeCount = Int.random(in: 1...3, using: &random)
    let count = [8, 30, 100, 250][Int.random(in: 0..<4, using: &random)]
    steps = [.faults(ServiceFaults(using: &random))]
    for _ in 0..<count {
      steps.append(Self.step(store: Int.random(in: 0..<storeCount, using: &random), &random))
    }
  }

  private static func step(store: Int, _ random: inout SplitMix64) -> RemoteStep {
    let seed = random.next()
    let action: RemoteStep.Action
    switch Int.random(in: 0..<200, using: &random) {
    case 0..<22: action = .insert
    case 22..<48: action = .edit
    case 48..<62: action = .relate
    case 62..<70: action = .delete
    case 70..<100: action = .save
    case 100..<116: action = .fetch
    case 116..<126: action = .refresh
    case 126..<130: action = .load
    case 130..<134: action = .traverse
    case 134..<137: action = .evict
    case 137..<150: action = .send
    case 150..<157: action = .readChanges
    case 157..<160: action = .retry
    case 160..<162: action = .discard
    case 162..<166: action = .reopen
    case 166..<170: action = .kill
    case 170..<173: action = .quieten
    case 173..<176: action = .forget
    case 176..<179: action = .verify
    case 179..<183: return .disturb(seed)
    case 183..<194: return .release(seed)
    case 194..<197: return .deliverLate
    default: return .faults(ServiceFaults(using: &random))
    }
    return .act(store, action, seed)
  }
}

/// What a program does next.
enum RemoteStep: Sendable {
  /// What an application does with its store.
  enum Action: Sendable {
    case insert, edit, relate, delete, save, fetch, refresh, load, evict, send, readChanges, retry, discard
    /// Reads the members of a relationship.
    case traverse
    /// The store is closed, or its process is killed, and it is opened again.
    case reopen, kill
    /// Waits until the store has no requests under way.
    case quieten
    /// Looks whether all values that wait to be sent are there.
    case verify
    /// The context forgets its objects and what is not saved of them.
    case forget
  }

  case act(Int, Action, UInt64)
  /// Somebody else changes something.
  case disturb(UInt64)
  /// A held request goes on.
  case release(UInt64)
  /// Requests that were thought lost arrive.
  case deliverLate
  case faults(ServiceFaults)
}

import CairnSimulation
import Foundation
import RemoteIncrementalStore
import Synchronization

/// A service in memory that tracks bugs. Several clients may share it. What goes wrong depends on the seed and on the
/// requests, and not on the order in which they arrive.
final class SimulatedService: Sendable {
  let options: ServiceOptions
  /// Where held requests wait.
  let gate = Gate()
  private let seed: UInt64
  private let state: Mutex<ServiceState>
  private let shared: Mutex<Shared>

  private struct Shared {
    var faults = ServiceFaults.none
    var requests: [SimulatedRequest] = []
    var counts: [String: Int] = [:]
    var late: [RemoteChange] = []
    var dead: Set<Int> = []
    var interceptor: Interceptor?
    var tally: [String: Int] = [:]
    var disturbances = 0
  }

  /// Called before the service handles a request, and again before its answer is delivered.
  typealias Interceptor = @Sendable (SimulatedRequest, Phase) async throws -> Void

  enum Phase: Sendable { case arriving, answering }

  convenience init(_ options: ServiceOptions = ServiceOptions(), seed: UInt64 = 1) {
    self.init(ServiceState(options), seed: seed)
  }

  init(_ state: ServiceState, seed: UInt64 = 1) {
    (options, self.seed) = (state.options, seed)
    self.state = Mutex(state)
    shared = Mutex(Shared())
  }

  func client(_ number: Int = 0) -> SimulatedClient { SimulatedClient(service: self, number: number) }

  // MARK: For tests

  /// Reads the objects of the service, or edits them, as somebody else would.
  func edit<Value: Sendable>(_ body: (inout ServiceState) throws -> sending Value) rethrows -> Value {
    try state.withLock { try body(&$0) }
  }

  var now: ServiceState { state.withLock { $0 } }

  var faults: ServiceFaults {
    get { shared.withLock { $0.faults } }
    set { shared.withLock { $0.faults = newValue } }
  }

  /// The requests that have reached the service, in their order.
  var requests: [SimulatedRequest] { shared.withLock { $0.requests } }

  func requests(_ kind: SimulatedRequest.Kind) -> [SimulatedRequest] { requests.filter { $0.kind == kind } }

  func intercept(_ interceptor: Interceptor?) { shared.withLock { $0.interceptor = interceptor } }

  /// What went wrong how often.
  var tally: [String: Int] { shared.withLock { $0.tally } }

  /// From now on nothing goes wrong. Requests that were thought lost arrive first.
  func heal() {
    faults = .none
    deliverLate()
    gate.open()
  }

  /// Requests that were thought lost arrive.
  func deliverLate() {
    let late = shared.withLock { shared in
      defer { shared.late = [] }
      return shared.late
    }
    for change in late { edit { _ = $0.apply(change) } }
  }

  /// The process of a client ends: nothing that it sends arrives any more.
  func kill(_ client: Int) {
    shared.withLock { _ = $0.dead.insert(client) }
    gate.drop(client)
  }

  /// Somebody else changes something.
  func disturb(using random: inout SplitMix64) {
    state.withLock { state in
      func pick(_ entity: String) -> RemoteIdentifier? { state.identifiers(of: entity).randomElement(using: &random) }
      let word = "service \(random.next() % 1000)"
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<4:
        var values: [String: RemoteValue] = [
          "title": .string(word), "state": .string(["open", "closed"][Int(random.next() % 2)]),
          "priority": .integer(Int64(random.next() % 5)),
        ]
        if Bool.random(using: &random), let user = pick("User") { values["assignee"] = .object(user) }
        state.insert("Bug", values, tags: pick("Tag").map { [$0] } ?? [])
      case 4: state.insert("User", ["name": .string(word)])
      case 5: state.insert("Tag", ["name": .string(word)])
      case 6..<8: if let bug = pick("Bug") { state.delete(bug) }
      case 8: if let user = pick("User") { state.delete(user) }
      case 9: if let tag = pick("Tag") { state.delete(tag) }
      case 10..<12: if let bug = pick("Bug") { state.update(bug, ["title": .string(word)]) }
      case 12..<14:
        if let bug = pick("Bug") { state.update(bug, ["state": .string(["open", "closed"][Int(random.next() % 2)])]) }
      case 14: if let bug = pick("Bug") { state.update(bug, ["priority": .integer(Int64(random.next() % 5))]) }
      case 15: if let bug = pick("Bug") { state.update(bug, ["assignee": pick("User").map { .object($0) } ?? .null]) }
      case 16: if let user = pick("User") { state.update(user, ["name": .string(word)]) }
      case 17: if let tag = pick("Tag") { state.update(tag, ["name": .string(word)]) }
      default:
        if let bug = pick("Bug"), let tag = pick("Tag") {
          state.setTags((state.things[bug]?.tags ?? []).symmetricDifference([tag]), of: bug)
        }
      }
    }
  }

  // MARK: Requests

  /// Handles a request with all that may go wrong.
  func handle<Answer: Sendable>(
    _ request: SimulatedRequest, _ body: (inout ServiceState) throws -> sending Answer
  ) async throws -> Answer {
    let chance = try shared.withLock { shared in
      if shared.dead.contains(request.client) { throw RemoteFailure.unreachable("the client is dead") }
      let count = shared.counts[request.text, default: 0]
      shared.counts[request.text] = count + 1
      return Chance(seed: seed, "\(request.client) \(count) \(request.text)", shared.faults)
    }
    let interceptor = shared.withLock { $0.interceptor }
    try await interceptor?(request, .arriving)
    if chance.roll("unreachable", \.unreachable) {
      count("unreachable")
      throw RemoteFailure.unreachable("no network")
    }
    if chance.roll("held before", \.held) {
      count("held before")
      try await gate.pass(request.client)
    }
    if case .send(let changes) = request.what, options.repeating == .keys, chance.roll("late", \.late) {
      count("late")
      shared.withLock { $0.late += changes }
      throw RemoteFailure.answerLost("too slow")
    }
    if chance.roll("busy", \.busy) {
      count("busy")
      throw RemoteFailure.later(nil)
    }
    if chance.roll("disturbed", \.disturbed) {
      count("disturbed")
      var random = shared.withLock { shared in
        shared.disturbances += 1
        return SplitMix64(seed: seed ^ UInt64(shared.disturbances))
      }
      disturb(using: &random)
    }
    shared.withLock { $0.requests.append(request) }
    let answer = try edit(body)
    if case .send(let changes) = request.what, options.repeating == .keys, chance.roll("duplicated", \.duplicated) {
      count("duplicated")
      for change in changes { edit { _ = $0.apply(change) } }
    }
    if chance.roll("held after", \.held) {
      count("held after")
      try await gate.pass(request.client)
    }
    try await interceptor?(request, .answering)
    if chance.roll("answer lost", \.answerLost) {
      count("answer lost")
      throw RemoteFailure.answerLost("the connection was lost")
    }
    if chance.roll("answer cut", \.answerCut) {
      count("answer cut")
      if chance.isEven { throw RemoteFailure.invalidAnswer("the body is cut") }
      throw SimulatedFailure()
    }
    return answer
  }

  /// Whether a single change shall be sent again later.
  func isBusy(_ change: RemoteChange, _ client: Int) -> Bool {
    let chance = shared.withLock { shared in
      let text = "\(change.kind) \(change.identifier?.description ?? "") \(change.attempts)"
      return Chance(seed: seed, "\(client) \(text)", shared.faults)
    }
    return chance.roll("change", \.busy)
  }

  private func count(_ what: String) { shared.withLock { $0.tally[what, default: 0] += 1 } }
}

/// An error of which a store knows nothing.
struct SimulatedFailure: Error {}

/// A request to a simulated service.
struct SimulatedRequest: Sendable {
  enum Kind: Hashable, Sendable { case page, records, members, send, changes, find }

  enum What: Sendable {
    case page(RemoteQuery, after: String?, ifNot: String?)
    case records([RemoteReference])
    case members(String, of: RemoteIdentifier, after: String?)
    case send([RemoteChange])
    case changes(since: String?)
    case find(RemoteChange)
  }

  let client: Int
  let what: What

  var kind: Kind {
    switch what {
    case .page: .page
    case .records: .records
    case .members: .members
    case .send: .send
    case .changes: .changes
    case .find: .find
    }
  }

  /// The changes that it sends.
  var changes: [RemoteChange] {
    if case .send(let changes) = what { return changes }
    return []
  }

  /// The objects for which it asks.
  var wanted: [RemoteReference] {
    if case .records(let wanted) = what { return wanted }
    return []
  }

  /// The same text for equal requests, as far as a seed determines them.
  var text: String {
    switch what {
    case .page(let query, let cursor, let tag):
      "page \(query.name) \(query.parameters.sorted { $0.key < $1.key }) \(cursor ?? "") \(tag ?? "")"
    case .records(let wanted): "records \(wanted.map(\.identifier.description).sorted())"
    case .members(let name, let owner, let cursor): "members \(name) \(owner) \(cursor ?? "")"
    case .send(let changes): "send \(changes.map { "\($0.kind) \($0.identifier?.description ?? $0.entityName)" })"
    case .changes(let cursor): "changes \(cursor ?? "")"
    case .find(let change): "find \(change.kind) \(change.entityName)"
    }
  }
}

/// Decides what goes wrong with a request: the same for the same seed and text.
private struct Chance {
  private let hash: UInt64
  private let faults: ServiceFaults

  init(seed: UInt64, _ text: String, _ faults: ServiceFaults) {
    (self.faults, hash) = (faults, Self.mix(seed, text))
  }

  var isEven: Bool { hash & 1 == 0 }

  func roll(_ what: String, _ thousandths: KeyPath<ServiceFaults, Int>) -> Bool {
    var random = SplitMix64(seed: Self.mix(hash, what))
    return Int(random.next() % 1000) < faults[keyPath: thousandths]
  }

  /// Fowler, Noll and Vo's hash.
  private static func mix(_ seed: UInt64, _ text: String) -> UInt64 {
    text.utf8.reduce(0xCBF2_9CE4_8422_2325 ^ seed) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
  }
}

/// One call of a history and its answer, with its place in real time: the readings of a clock that all threads share.
struct Call<Operation: Sendable>: Sendable {
  var thread: Int
  var operation: Operation
  var began: Int
  var ended: Int
}

/// The behaviour of an object that only one thread uses.
protocol SequentialModel: Sendable {
  associatedtype State: Hashable & Sendable
  /// A call together with its answer.
  associatedtype Operation: Sendable

  /// The state after a call; nil if the object would not have given that answer in this state.
  func state(after operation: Operation, in state: State) -> State?
}

/// Decides whether a history is linearizable: whether each call could have happened in one instant between its
/// beginning and its end (Herlihy and Wing, "Linearizability: A Correctness Condition for Concurrent Objects", 1990).
///
/// The search is that of Wing and Gong, "Testing and Verifying Concurrent Objects", 1993: take any call that began
/// before the first end, let it happen, and go on with the rest; where an answer does not fit, take another call. As
/// Lowe proposes in "Testing for Linearizability", 2017, the search never continues twice from the same set of calls
/// and the same state; without that it would take exponential time.
struct Linearizability<Model: SequentialModel> {
  let model: Model

  enum Verdict {
    /// The indices of the calls in an order that explains the answers.
    case linearizable([Int])
    /// The longest order found, and the call that ended and does not fit anywhere after it.
    case impossible(longest: [Int], blocked: Int)
  }

  static var capacity: Int { CallSet.capacity }

  private struct Configuration: Hashable {
    var done: CallSet
    var state: Model.State
  }

  func check(_ history: [Call<Model.Operation>], from initial: Model.State) -> Verdict {
    precondition(history.count <= Self.capacity, "histories have at most \(Self.capacity) calls")
    var events = EventList(history.map { ($0.began, $0.ended) })
    var state = initial
    var done = CallSet()
    var chosen: [(call: Int, before: Model.State)] = []
    var seen: Set<Configuration> = []
    var longest: [Int] = []
    var blocked = 0
    var event = events.first
    while !events.isEmpty {
      if let call = events.beginning(event) {
        if let next = model.state(after: history[call].operation, in: state),
          seen.insert(Configuration(done: done.inserting(call), state: next)).inserted
        {
          chosen.append((call, state))
          done.insert(call)
          state = next
          events.remove(call)
          event = events.first
        } else {
          event = events.next(event)
        }
      } else {
        // A call has ended that has not happened yet: one of those before it was chosen too early.
        if chosen.count >= longest.count {
          longest = chosen.map(\.call)
          blocked = events.call(event)
        }
        guard let last = chosen.popLast() else { return .impossible(longest: longest, blocked: blocked) }
        state = last.before
        done.remove(last.call)
        events.restore(last.call)
        event = events.next(events.beginning(of: last.call))
      }
    }
    return .linearizable(chosen.map(\.call))
  }
}

/// A set of small numbers.
private struct CallSet: Hashable {
  static let capacity = 256
  private var words = SIMD4<UInt64>()

  mutating func insert(_ call: Int) { words[call >> 6] |= 1 << UInt64(call & 63) }
  mutating func remove(_ call: Int) { words[call >> 6] &= ~(1 << UInt64(call & 63)) }

  func inserting(_ call: Int) -> CallSet {
    var set = self
    set.insert(call)
    return set
  }
}

/// Beginnings and ends in order of time, in a doubly linked list, so that a call can be taken out and put back.
private struct EventList {
  private var previous: [Int]
  private var following: [Int]
  private var calls: [Int]
  private var beginnings: [Int]
  private var ends: [Int]
  /// A sentinel after the last event and before the first.
  private let head: Int

  init(_ times: [(began: Int, ended: Int)]) {
    var events: [(time: Int, call: Int, isEnd: Bool)] = []
    for (call, (began, ended)) in times.enumerated() {
      precondition(began < ended, "a call ends after it began")
      events.append((began, call, false))
      events.append((ended, call, true))
    }
    events.sort { ($0.time, $0.isEnd ? 1 : 0) < ($1.time, $1.isEnd ? 1 : 0) }
    head = events.count
    previous = (0...head).map { $0 == 0 ? events.count : $0 - 1 }
    following = (0...head).map { $0 == events.count ? 0 : $0 + 1 }
    calls = events.map(\.call)
    beginnings = Array(repeating: 0, count: times.count)
    ends = beginnings
    for (index, event) in events.enumerated() {
      if event.isEnd { ends[event.call] = index } else { beginnings[event.call] = index }
    }
  }

  var first: Int { following[head] }
  var isEmpty: Bool { first == head }
  func next(_ event: Int) -> Int { following[event] }
  func call(_ event: Int) -> Int { calls[event] }
  func beginning(of call: Int) -> Int { beginnings[call] }

  /// The call that begins with an event; nil if the event is an end.
  func beginning(_ event: Int) -> Int? { beginnings[calls[event]] == event ? calls[event] : nil }

  mutating func remove(_ call: Int) {
    for event in [beginnings[call], ends[call]] {
      following[previous[event]] = following[event]
      previous[following[event]] = previous[event]
    }
  }

  /// Undoes the newest removal that has not been undone.
  mutating func restore(_ call: Int) {
    for event in [ends[call], beginnings[call]] {
      following[previous[event]] = event
      previous[following[event]] = event
    }
  }
}

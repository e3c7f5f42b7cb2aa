import Cairn
import Foundation
import Synchronization

// Writer STORE LEAD
//
// Writes commits of every kind into a store until standard input has a line "stop" or ends, and prints each commit as a
// JSON line once it is in the store: {"sequence":…,"changes":[[keyspace,key,value or null],…]},
// {"sequence":…,"retention":keyspace}, or {"sequence":…,"dropped":keyspace}. Each other line of standard input is
// the sequence of a commit that the reader has seen; the writer waits while it is more than LEAD ahead of that.

let arguments = CommandLine.arguments
guard arguments.count == 3, let lead = UInt64(arguments[2]) else { fatalError("a store and a lead") }

let seen = Mutex<UInt64>(0)
let isStopping = Mutex(false)
let mayGoOn = DispatchSemaphore(value: 0)
Thread.detachNewThread {
  while let line = readLine() {
    if let sequence = UInt64(line) { seen.withLock { $0 = max($0, sequence) } } else { break }
    mayGoOn.signal()
  }
  isStopping.withLock { $0 = true }
  mayGoOn.signal()
}

var options = StoreOptions()
options.segmentSize = 1 << 16
let store = try Store.open(at: arguments[1], options: options)
seen.withLock { $0 = max($0, store.lastSequence.rawValue) }
let accounts = try store.keyspace("accounts")
let letters = try store.keyspace("letters")
let drafts = try store.keyspace("drafts")
let marks = try store.keyspace("marks", order: .unordered)

var state: UInt64 = store.lastSequence.rawValue &* 0x9E37_79B9_7F4A_7C15 | 1
@MainActor
func random(_ bound: Int) -> Int {
  state ^= state << 13
  state ^= state >> 7
  state ^= state << 17
  return Int(state % UInt64(bound))
}

@MainActor
func words(_ count: Int) -> String {
  let some = ["invoice", "paid", "reminder", "order", "shipped", "Berlin", "address", "customer"]
  return (0..<count).map { _ in "\(some[random(some.count)]) \(random(1_000_000))" }.joined(separator: " ")
}

struct Change {
  let keyspace: Keyspace
  let key: Int
  let value: String?
}

var count = 0
@MainActor
func report(_ sequence: CommitSequence, _ rest: String) {
  FileHandle.standardOutput.write(Data("{\"sequence\":\(sequence),\(rest)}\n".utf8))
  count += 1
}

@MainActor
func commit(_ wanted: [Change]) throws {
  // Deleting a row that does not exist is no change.
  let changes = try wanted.filter { change in
    try change.value != nil || change.keyspace.contains(change.key)
  }
  guard !changes.isEmpty else { return }
  let sequence = try store.write(durability: count.isMultiple(of: 16) ? .durable : .buffered) { batch in
    for change in changes {
      if let value = change.value {
        try change.keyspace.put(Array(value.utf8), at: change.key, in: &batch)
      } else {
        try change.keyspace.delete(change.key, in: &batch)
      }
    }
  }
  let list = changes.map { "[\"\($0.keyspace.name)\",\($0.key),\($0.value.map { "\"\($0)\"" } ?? "null")]" }
  report(sequence, "\"changes\":[\(list.joined(separator: ","))]")
}

/// Random changes of rows of a keyspace, with no row twice.
@MainActor
func changes(_ keyspace: Keyspace, rows: Int, most: Int, _ value: () -> String?) -> [Change] {
  Set((0...random(most)).map { _ in random(rows) }).sorted().map { Change(keyspace: keyspace, key: $0, value: value()) }
}

// The sum of all accounts' balances is 100,000 after every commit.
@MainActor
func balance(_ account: Int) throws -> Int {
  let value = try accounts.get(account) ?? []
  return Int(String(decoding: value, as: UTF8.self)) ?? 0
}
if try accounts.count() == 0 {
  try commit((0..<100).map { Change(keyspace: accounts, key: $0, value: "1000") })
  report(try drafts.setRetention(.last(3)), "\"retention\":\"drafts\"")
}

while !isStopping.withLock({ $0 }) {
  while seen.withLock({ store.lastSequence.rawValue > $0 + lead }), !isStopping.withLock({ $0 }) { mayGoOn.wait() }
  switch random(100) {
  case 0..<40:
    let from = random(100)
    let to = (from + 1 + random(99)) % 100
    let amount = random(50)
    try commit([
      Change(keyspace: accounts, key: from, value: "\(try balance(from) - amount)"),
      Change(keyspace: accounts, key: to, value: "\(try balance(to) + amount)"),
    ])
  case 40..<75: try commit(changes(letters, rows: 2000, most: 6) { random(4) == 0 ? nil : words(2 + random(12)) })
  case 75..<88: try commit(changes(drafts, rows: 100, most: 2) { random(6) == 0 ? nil : words(1 + random(4)) })
  case 88..<97: try commit(changes(marks, rows: 500, most: 3) { random(3) == 0 ? nil : "\(random(1_000_000))" })
  case 97: try commit([Change(keyspace: letters, key: random(2000), value: words(300 + random(1200)))])
  default:
    let passing = try store.keyspace("passing")
    if try passing.count() < 20 {
      try commit(changes(passing, rows: 1000, most: 20) { words(3) })
    } else {
      report(try passing.drop(durability: .buffered), "\"dropped\":\"passing\"")
    }
  }
}
try store.close()

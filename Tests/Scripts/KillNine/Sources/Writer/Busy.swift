import Cairn
import Foundation

/// A process that does everything at once, to be killed. Some threads write as `Plan` says, and print their role and
/// the number of each operation that has been acknowledged; one holds snapshots and checks that they do not change; one
/// compacts and writes checkpoints.
struct Busy {
  let store: Store
  let seed: UInt64
  /// For each role, the number of the first operation to do.
  let next: [Int]

  static var options: StoreOptions {
    var options = StoreOptions()
    options.segmentSize = 1 << 18
    return options
  }

  func run() -> Never {
    for role in Plan.Role.allCases { start { try write(Plan(seed: seed, role: role), from: next[role.rawValue]) } }
    start(holdSnapshots)
    start(maintain)
    while true { sleep(1000) }
  }

  private func start(_ body: @escaping @Sendable () throws -> Void) {
    Thread {
      do {
        try body()
      } catch {
        FileHandle.standardError.write(Data("KillNine: \(error)\n".utf8))
        exit(1)
      }
    }.start()
  }

  private func write(_ plan: Plan, from start: Int) throws {
    var keyspace = try store.keyspace(plan.keyspaceName, order: plan.order)
    var number = start
    while true {
      let durability = plan.durability(number)
      switch plan.operation(number) {
      case .write(let changes):
        try store.write(durability: durability) { batch in
          for change in changes {
            let key = plan.key(change.key)
            if change.isPut {
              try keyspace.put(plan.value(change.key, number), at: key, in: &batch)
            } else {
              try keyspace.delete(key, in: &batch)
            }
          }
        }
      case .retain(let count): try keyspace.setRetention(.last(count), durability: durability)
      case .drop:
        try keyspace.drop(durability: durability)
        keyspace = try store.keyspace(plan.keyspaceName, order: plan.order)
      }
      FileHandle.standardOutput.write(Data("\(plan.role.rawValue) \(number)\n".utf8))
      number += 1
    }
  }

  private func holdSnapshots() throws {
    let keyspaces = try [store.keyspace("rows"), store.keyspace("history", order: .unordered)]
    var held: [(snapshot: Snapshot, rows: [Set<Row>])] = []
    var round = 0
    while true {
      let snapshot = store.snapshot()
      held.append((snapshot, try keyspaces.map { Set(try $0.rows(at: snapshot)) }))
      usleep(UInt32(round * 7919 % 20) * 1000)
      // End the snapshots in varying order.
      if held.count > round % 4 {
        let (oldest, rows) = held.remove(at: round * 31 % held.count)
        for (keyspace, rows) in zip(keyspaces, rows) where Set(try keyspace.rows(at: oldest)) != rows {
          throw Wrong("a snapshot of commit \(oldest.sequence) shows something else than before")
        }
        oldest.close()
      }
      round += 1
    }
  }

  private func maintain() throws {
    var round = 0
    while true {
      usleep(UInt32(round * 6101 % 30) * 1000)
      switch round % 5 {
      case 0: try store.checkpoint()
      case 1, 3: try store.compact(.everything)
      default: try store.compact()
      }
      round += 1
    }
  }
}

struct Wrong: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Compares a store with the acknowledged operations, which are read from standard input, each line a role and a
/// number: each thread must have reached the last of its lines, or one operation further. Prints for each role the
/// operation to go on with, and then the number of operations that were acknowledged.
func checkBusy(_ path: String, seed: UInt64, from next: [Int]) throws {
  var options = Busy.options
  options.access = .readOnly
  let store = try Store.open(at: path, options: options)
  var reached = next.map { $0 - 1 }
  while let line = readLine() {
    let numbers = line.split(separator: " ").compactMap { Int($0) }
    // The last line may be cut off; its operation then counts as not acknowledged.
    guard numbers.count == 2, reached.indices.contains(numbers[0]) else { continue }
    reached[numbers[0]] = max(reached[numbers[0]], numbers[1])
  }
  var goOn: [Int] = []
  for role in Plan.Role.allCases {
    let plan = Plan(seed: seed, role: role)
    var outcome = Outcome()
    let last = reached[role.rawValue]
    for number in 0..<(last + 1) { outcome.apply(plan.operation(number), number) }
    if let difference = try outcome.difference(store, plan) {
      outcome.apply(plan.operation(last + 1), last + 1)
      guard let other = try outcome.difference(store, plan) else {
        goOn.append(last + 2)
        continue
      }
      throw Wrong("\(role), acknowledged up to \(last): \(difference); with the next: \(other)")
    }
    goOn.append(last + 1)
  }
  let acknowledged = zip(reached, next).reduce(0) { $0 + $1.0 + 1 - $1.1 }
  print((goOn + [acknowledged]).map { "\($0)" }.joined(separator: " "))
}

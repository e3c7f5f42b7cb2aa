import Cairn
import Foundation

// Writer write STORE durable|buffered THREADS COUNT
//   commits numbers and prints each that is acknowledged
// Writer check STORE
//   reads acknowledged numbers from standard input and checks that the store has all of them
// Writer busy STORE SEED NEXT...
//   does everything at once, beginning with operation NEXT of each role, and prints the acknowledged operations
// Writer check-busy STORE SEED NEXT...
//   reads that output from standard input, compares it with the store, and prints the operations to go on with

/// The key of a thread's number: thread × 1,000,000,000 + how many numbers the thread has written before.
func key(_ thread: Int, _ number: Int) -> Key { .integer(Int64(thread * 1_000_000_000 + number)) }

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fatalError("write or check, and a store") }
if arguments[1].hasSuffix("busy"), let seed = UInt64(arguments[3]) {
  let next = arguments[4...].compactMap { Int($0) }
  do {
    if arguments[1] == "busy" {
      Busy(store: try Store.open(at: arguments[2], options: Busy.options), seed: seed, next: next).run()
    }
    try checkBusy(arguments[2], seed: seed, from: next)
    exit(0)
  } catch {
    FileHandle.standardError.write(Data("KillNine: \(error)\n".utf8))
    exit(1)
  }
}
let store = try Store.open(at: arguments[2])
let keyspace = try store.keyspace("numbers")

if arguments[1] == "write" {
  let durability: Durability = arguments[3] == "durable" ? .durable : .buffered
  let threads = Int(arguments[4]) ?? 1
  let count = Int(arguments[5]) ?? 1
  let done = DispatchGroup()
  for thread in 0..<threads {
    let worker = Thread {
      do {
        var number = 0
        while number < count {
          let next = key(thread, number)
          try keyspace.put(Array("value \(number)".utf8), at: next, durability: durability)
          FileHandle.standardOutput.write(Data("\(next)\n".utf8))
          number += 1
        }
      } catch {
        FileHandle.standardError.write(Data("\(error)\n".utf8))
        exit(1)
      }
      done.leave()
    }
    done.enter()
    worker.start()
  }
  done.wait()
} else {
  var checked = 0
  while let line = readLine() {
    guard let number = Int64(line) else { continue }
    guard try keyspace.contains(number) else {
      print("lost: \(number)")
      exit(1)
    }
    checked += 1
  }
  print(checked)
}

import Cairn
import CairnFoundation
import Foundation

@main
struct Jobs {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.first, let commands = Command.parse(arguments.dropFirst()) else {
      FileHandle.standardError.write(Data((Command.usage + "\n").utf8))
      exit(64)
    }
    do {
      if case .restore(let backup) = commands[0] { try JobQueue.restore(from: backup, to: path) }
      let queue = try JobQueue(at: path)
      try await withThrowingTaskGroup(of: String.self) { backups in
        var now = Date(timeIntervalSinceReferenceDate: 0)
        for command in commands {
          guard case .backup(let directory) = command else {
            try await run(command, queue, &now)
            continue
          }
          backups.addTask {
            try await queue.backUp(to: directory)
            return directory
          }
        }
        for try await directory in backups { print("backed up in \(directory)") }
      }
      try queue.close()
    } catch {
      FileHandle.standardError.write(Data("Jobs: \(error.localizedDescription)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ command: Command, _ queue: JobQueue, _ now: inout Date) async throws {
    switch command {
    case .time(let seconds): now = Date(timeIntervalSinceReferenceDate: Double(seconds))
    case .add(let name, let queueName): print("job \(try queue.add(name, to: queueName, at: now))")
    case .work(let name):
      let done = try await work(queue, name, now)
      print("\(done.count) done in \(name), \(done.count { !$0 }) of them failed")
    case .list:
      for (number, job) in try queue.all {
        let seconds = Int(job.time.timeIntervalSinceReferenceDate)
        print("\(number)  \(job.queue)  \(job.name)  \(job.state)  at \(seconds), attempts: \(job.attempts)")
      }
    case .backup, .restore: break
    case .forget: print("\(try queue.forget(endedBefore: now - 60)) forgotten")
    }
  }

  /// Lets four workers take jobs at once; returns which of them have succeeded.
  private static func work(_ queue: JobQueue, _ name: String, _ now: Date) async throws -> [Bool] {
    try await withThrowingTaskGroup(of: [Bool].self) { group in
      for _ in 0..<4 {
        group.addTask {
          var results: [Bool] = []
          while let (number, job) = try queue.take(from: name, now: now) {
            results.append(!job.name.hasPrefix("bad"))
            try queue.end(number, hasSucceeded: results.last == true, now: now)
          }
          return results
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }
}

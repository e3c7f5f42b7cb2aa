import ArgumentParser
import Foundation
import Synchronization

struct Crash: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Kill the service under load, start it again, and check that nothing is lost.",
    discussion: """
      The service is killed whenever --transfers transfers have been acknowledged. Exit status 1 if an acknowledged \
      transfer is missing afterwards, if a balance is wrong, if a read was torn, or if the service fails before it is \
      killed.
      """)

  @Argument(
    help: "The store, which is created if it does not exist: a path, or the URI of a PostgreSQL database.",
    completion: .directory)
  var store: String

  @Option(help: "How many times to kill the service.")
  var kills = 20

  @Option(help: "The number of transfers to be acknowledged before each kill.")
  var transfers = 1000

  @Option(help: "The number of clients of each process, each with its own connection.")
  var connections = 8

  @Option(help: "The number of processes that serve one database. Only one can serve a store in Cairn.")
  var services = 1

  @Option(
    help: """
      A shell command that kills the database and starts it again. It is run in each round after half of the transfers; \
      clients go on meanwhile.
      """)
  var databaseCrash: String?

  func validate() throws {
    guard kills > 0, transfers > 0, connections > 0, services > 0 else {
      throw ValidationError("--kills, --transfers, --connections and --services must be greater than 0.")
    }
  }

  func run() async throws {
    var acknowledged: [TransferReply] = []
    for kill in 1...kills {
      let made = try await loadAndKill()
      acknowledged += made
      try await check(made)
      print("kill \(kill): all \(made.count) acknowledged transfers are there")
    }
    try await check(acknowledged)
    print(
      "after \(kills) kills, all \(acknowledged.count) acknowledged transfers are there, and every balance is right")
  }

  private func loadAndKill() async throws -> [TransferReply] {
    // One after the other: the first makes the accounts of a new store.
    let processes = try (0..<services).map { _ in try ServiceProcess(store: store) }
    defer { for process in processes { process.kill() } }
    let accounts = try await accounts(processes[0])
    @Sendable func killAll() { for process in processes { process.kill() } }
    let countdown = Countdown(transfers, killAll)
    let outage = databaseCrash.map { Outage($0, orElse: killAll) }
    let halfway = Countdown((transfers + 1) / 2) { outage?.begin() }
    let workloads = processes.map { process in
      Workload(
        port: process.port, connections: connections, accounts: accounts, goesOn: { true },
        toleratesOutages: outage != nil
      ) {
        halfway.count()
        // The round ends some transfers after the database is there again.
        if outage?.isOver ?? true { countdown.count() }
      }
    }
    let (tally, failure) = await withTaskGroup { group in
      for workload in workloads { group.addTask { await workload.run() } }
      return await group.reduce(into: (Tally(), (any Error)?.none)) { result, part in
        result.0.add(part.0)
        result.1 = result.1 ?? part.1
      }
    }
    guard tally.tornReads == 0 else {
      print("\(tally.tornReads) torn reads")
      throw ExitCode.failure
    }
    guard outage?.isOver ?? true else { throw ExitCode.failure }
    guard tally.acknowledged.count >= transfers else {
      print("the service failed before it was killed, after \(tally.acknowledged.count) transfers")
      throw failure ?? ExitCode.failure
    }
    if databaseCrash != nil { print("\(tally.unavailable) requests were refused while the database was away") }
    return tally.acknowledged
  }

  private func check(_ acknowledged: [TransferReply]) async throws {
    let service = try ServiceProcess(store: store)
    defer { service.kill() }
    let accounts = try await accounts(service)
    let findings = try await Client.with(port: service.port) { client in
      try await Audit(accounts: accounts, acknowledged: acknowledged).findings(&client)
    }
    findings.forEach { print($0) }
    if !findings.isEmpty { throw ExitCode.failure }
  }

  private func accounts(_ service: ServiceProcess) async throws -> Int {
    try await Client.with(port: service.port) { client in
      let total: TotalReply = try await client.get("/total")
      return total.accounts
    }
  }
}

/// A time at which the database is away.
private final class Outage: Sendable {
  private let command: String
  private let giveUp: @Sendable () -> Void
  private let hasEnded = Atomic(false)

  /// - Parameters:
  ///   - command: A shell command that kills the database and starts it again.
  ///   - giveUp: Called if the command fails, since the database may stay away.
  init(_ command: String, orElse giveUp: @escaping @Sendable () -> Void) {
    (self.command, self.giveUp) = (command, giveUp)
  }

  var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  func begin() {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", command]
    process.terminationHandler = { [self] process in
      guard process.terminationStatus == 0 else { return fail("\(command) failed") }
      hasEnded.store(true, ordering: .releasing)
    }
    do { try process.run() } catch { fail("\(error)") }
  }

  private func fail(_ reason: String) {
    print("the database was not killed and started again: \(reason)")
    giveUp()
  }
}

/// Does something when a number of transfers has been acknowledged.
private final class Countdown: Sendable {
  private let left: Atomic<Int>
  private let end: @Sendable () -> Void

  init(_ count: Int, _ end: @escaping @Sendable () -> Void) {
    left = Atomic(count)
    self.end = end
  }

  func count() {
    if left.subtract(1, ordering: .relaxed).newValue == 0 { end() }
  }
}

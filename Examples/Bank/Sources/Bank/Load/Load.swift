import ArgumentParser
import Foundation

struct Load: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Load a running service, check its answers, and print a report.",
    discussion: """
      Exit status 1 if a read was torn, if an acknowledged transfer is missing, or if a balance is wrong. Memory is
      reported, but not checked.
      No other client may write at the same time.
      """)

  @Option(help: "The port of the service on this machine.")
  var port = 8080

  @Option(help: "How many seconds to load the service.")
  var seconds = 60

  @Option(help: "The number of clients, each with its own connection.")
  var connections = 8

  func validate() throws {
    guard seconds > 0, connections > 0 else {
      throw ValidationError("--seconds and --connections must be greater than 0.")
    }
  }

  func run() async throws {
    let accounts = try await Client.with(port: port) { client in
      let total: TotalReply = try await client.get("/total")
      return total.accounts
    }
    let before: StatisticsReply = try await statistics()
    let start = ContinuousClock.now
    let duration = Duration.seconds(seconds)
    let workload = Workload(port: port, connections: connections, accounts: accounts) { .now - start < duration }
    async let memory = MemorySamples(port: port, over: duration)
    let (tally, failure) = await workload.run()
    let elapsed = ContinuousClock.now - start
    if let failure { throw failure }
    let after: StatisticsReply = try await statistics()
    let report = Report(
      tally: tally, elapsed: elapsed, saves: after.saves - before.saves, conflicts: after.conflicts - before.conflicts,
      storeBytes: after.storeBytes, memory: try await memory)
    print(report, terminator: "")

    let findings = try await Client.with(port: port) { client in
      try await Audit(accounts: accounts, acknowledged: tally.acknowledged).findings(&client)
    }
    findings.forEach { print($0) }
    guard findings.isEmpty, tally.tornReads == 0 else { throw ExitCode.failure }
    print("all acknowledged transfers are there, and every balance is right")
  }

  private func statistics() async throws -> StatisticsReply {
    try await Client.with(port: port) { client in try await client.get("/statistics") }
  }
}

import ArgumentParser
import Foundation

struct Load: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Load a running service, check what it answers, and report.",
    discussion: """
      Ends with status 1 if a read was torn, if a transfer that was acknowledged is not there, or if a balance is
      wrong. Memory is reported, not judged.
      Nobody else may write meanwhile.
      """)

  @Option(help: "The port of the service on this machine.")
  var port = 8080

  @Option(help: "How long to load it.")
  var seconds = 60

  @Option(help: "How many clients there are, each on a connection of its own.")
  var connections = 8

  func validate() throws {
    guard seconds > 0, connections > 0 else {
      throw ValidationError("--seconds and --connections need a number above 0.")
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

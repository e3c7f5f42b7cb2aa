import NIOHTTP1

/// Several clients that read and write at random, each on a connection of its own: half of the requests are transfers,
/// a tenth read all accounts, the others read one account.
struct Workload: Sendable {
  let port: Int
  let connections: Int
  let accounts: Int
  /// Called before each request; the client ends when it returns false.
  let goesOn: @Sendable () -> Bool
  /// Whether clients go on when the service answers that its database is away.
  var toleratesOutages = false
  /// Called after each transfer that the service has acknowledged.
  var acknowledged: @Sendable () -> Void = {}

  /// Runs the clients. Returns the counts, and the first error that ended a client early.
  func run() async -> (Tally, (any Error)?) {
    await withTaskGroup { group in
      for _ in 0..<connections { group.addTask { await runClient() } }
      return await group.reduce(into: (Tally(), nil)) { result, client in
        result.0.add(client.0)
        result.1 = result.1 ?? client.1
      }
    }
  }

  private func runClient() async -> (Tally, (any Error)?) {
    var tally = Tally()
    do {
      try await Client.with(port: port) { client in
        while goesOn() {
          do {
            try await request(&client, &tally)
          } catch let answer as Client.UnexpectedAnswer where toleratesOutages && answer.status == .serviceUnavailable {
            tally.unavailable += 1
          }
        }
      }
      return (tally, nil)
    } catch {
      return (tally, error)
    }
  }

  private func request(_ client: inout Client, _ tally: inout Tally) async throws {
    let start = ContinuousClock.now
    let kind: Tally.Kind
    switch Int.random(in: 0..<10) {
    case ..<5:
      kind = .transfers
      try await transfer(&client, &tally)
    case ..<9:
      kind = .accounts
      let _: AccountReply = try await client.get("/accounts/\(Int.random(in: 0..<accounts))")
    default:
      kind = .totals
      let total: TotalReply = try await client.get("/total")
      if total.accounts != accounts || total.balance != Ledger.openingBalance * Int64(accounts) { tally.tornReads += 1 }
    }
    tally.latencies[kind, default: []].append(ContinuousClock.now - start)
  }

  private func transfer(_ client: inout Client, _ tally: inout Tally) async throws {
    let source = Int.random(in: 0..<accounts)
    let destination = (source + Int.random(in: 1..<accounts)) % accounts
    let transfer = TransferRequest(source: source, destination: destination, amount: .random(in: 1...100))
    do {
      let reply: TransferReply = try await client.post("/transfers", transfer)
      tally.acknowledged.append(reply)
      acknowledged()
    } catch let answer as Client.UnexpectedAnswer where answer.status == .conflict {
      tally.contended += 1
    } catch let answer as Client.UnexpectedAnswer where answer.status == .unprocessableEntity {
      tally.uncovered += 1
    }
  }
}

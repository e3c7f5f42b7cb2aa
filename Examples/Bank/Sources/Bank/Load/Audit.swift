import NIOHTTP1

/// Checks the accounts while there are no transfers: every acknowledged transfer exists, each balance is what its
/// transfers make it, and the total amount of money is unchanged.
struct Audit {
  let accounts: Int
  let acknowledged: [TransferReply]

  /// The problems found, one line each; empty if there are none.
  func findings(_ client: inout Client) async throws -> [String] {
    var findings: [String] = []
    for expected in acknowledged {
      do {
        let found: TransferReply = try await client.get("/transfers/\(expected.id)")
        if found != expected { findings.append("transfer \(expected.id) differs from the acknowledged one") }
      } catch let answer as Client.UnexpectedAnswer where answer.status == .notFound {
        findings.append("transfer \(expected.id) was acknowledged, but is lost")
      }
    }
    var total: Int64 = 0
    for number in 0..<accounts {
      let statement: StatementReply = try await client.get("/accounts/\(number)/statement")
      total += statement.balance
      if statement.balance != Ledger.openingBalance + statement.deposits - statement.withdrawals {
        findings.append("the balance of account \(number) does not match its transfers")
      }
    }
    if total != Ledger.openingBalance * Int64(accounts) { findings.append("the total of all balances is \(total)") }
    return findings
  }
}

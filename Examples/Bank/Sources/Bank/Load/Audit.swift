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
        if found != expected { findings.append("transfer \(expected.id) is another one than was acknowledged") }
      } catch let answer as Client.UnexpectedAnswer where answer.status == .notFound {
        findings.append("transfer \(expected.id) was acknowledged, and is lost")
      }
    }
    var total: Int64 = 0
    for number in 0..<accounts {
      let statement: StatementReply = try await client.get("/accounts/\(number)/statement")
      total += statement.balance
      if statement.balance != Ledger.openingBalance + statement.deposits - statement.withdrawals {
        findings.append("the balance of account \(number) is not what its transfers make it")
      }
    }
    if total != Ledger.openingBalance * Int64(accounts) { findings.append("all accounts together have \(total)") }
    return findings
  }
}

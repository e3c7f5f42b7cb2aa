import CoreData
import NIOCore
import NIOHTTP1

/// Finds the response to each request.
struct Router: Sendable {
  struct Response {
    var status: HTTPResponseStatus
    var body: Data
  }

  let ledger: Ledger

  func response(to request: NIOHTTPServerRequestFull) async -> Response {
    do {
      return try await route(request)
    } catch {
      return refusal(error)
    }
  }

  private func route(_ request: NIOHTTPServerRequestFull) async throws -> Response {
    let path = request.head.uri.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    switch (request.head.method, path.count, path.first) {
    case (.POST, 1, "transfers"):
      let body = Data((request.body ?? ByteBuffer()).readableBytesView)
      let transfer = try JSONDecoder().decode(TransferRequest.self, from: body)
      return try json(try await ledger.transfer(transfer), .created)
    case (.GET, 2, "transfers"): return try json(try await ledger.transfer(path[1]))
    case (.GET, 2, "accounts"): return try json(try await ledger.account(try number(path[1])))
    case (.GET, 3, "accounts") where path[2] == "statement":
      return try json(try await ledger.statement(try number(path[1])))
    case (.GET, 1, "total"): return try json(try await ledger.total())
    case (.GET, 1, "statistics"): return try json(ledger.statistics())
    case (_, _, "transfers"), (_, _, "accounts"), (_, 1, "total"), (_, 1, "statistics"):
      return refusal(.methodNotAllowed, "This resource does not support the method.")
    default: return refusal(.notFound, "There is no such resource.")
    }
  }

  private func number(_ text: String) throws -> Int {
    guard let number = Int(text) else { throw LedgerError.noSuchAccount }
    return number
  }

  private func refusal(_ error: any Error) -> Response {
    switch error {
    case LedgerError.noSuchAccount: refusal(.notFound, "There is no such account.")
    case LedgerError.noSuchTransfer: refusal(.notFound, "There is no such transfer.")
    case LedgerError.senseless: refusal(.unprocessableEntity, "A transfer must move more than 0 to another account.")
    case LedgerError.insufficientFunds: refusal(.unprocessableEntity, "The balance is too low.")
    case LedgerError.contended: refusal(.conflict, "Other transfers have changed the accounts; try again.")
    case is DecodingError: refusal(.badRequest, "The body is not a transfer in JSON.")
    case let error as NSError
    where [NSPersistentStoreOperationError, NSPersistentStoreTimeoutError].contains(error.code):
      refusal(.serviceUnavailable, error.localizedDescription)
    default: refusal(.internalServerError, error.localizedDescription)
    }
  }

  private func refusal(_ status: HTTPResponseStatus, _ text: String) -> Response {
    let body = try? JSONEncoder().encode(ErrorReply(error: text))
    return Response(status: status, body: body ?? Data())
  }

  private func json(_ reply: some Encodable, _ status: HTTPResponseStatus = .ok) throws -> Response {
    Response(status: status, body: try JSONEncoder().encode(reply))
  }
}

/// The body of `POST /transfers`.
struct TransferRequest: Codable, Hashable, Sendable {
  var source: Int
  var destination: Int
  var amount: Int64
}

/// The answer to `POST /transfers` and `GET /transfers/ID`.
struct TransferReply: Codable, Hashable, Sendable {
  var id: String
  var transfer: TransferRequest
}

/// The answer to `GET /accounts/N`.
struct AccountReply: Codable, Sendable {
  var number: Int
  var balance: Int64
}

/// The answer to `GET /accounts/N/statement`.
struct StatementReply: Codable, Sendable {
  var balance: Int64
  var deposits: Int64
  var withdrawals: Int64
}

/// The answer to `GET /total`.
struct TotalReply: Codable, Sendable {
  var accounts: Int
  var balance: Int64
}

/// The answer to `GET /statistics`.
struct StatisticsReply: Codable, Sendable {
  var saves: Int
  var conflicts: Int
  var storeBytes: Int
  var indexBytes: Int
  var memoryBytes: Int
  var mappedBytes: Int
}

/// The answer to any request that fails.
struct ErrorReply: Codable, Sendable {
  var error: String
}

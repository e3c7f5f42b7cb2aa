#if PostgreSQL
  import Foundation

  /// The connections of a store. A request takes one for itself until its end.
  final class ConnectionPool: @unchecked Sendable {
    private let condition = NSCondition()
    private let most: Int
    private let patience: TimeInterval
    private let connect: () throws -> Connection
    private var idle: [Connection] = []
    private var used = 0
    private var isClosed = false

    /// - Parameters:
    ///   - most: How many connections there are at once.
    ///   - patience: For how many seconds a request waits for a connection.
    init(most: Int, patience: TimeInterval, _ connect: @escaping () throws -> Connection) {
      (self.most, self.patience, self.connect) = (max(1, most), patience, connect)
    }

    /// A connection on which a transaction begins with the next statements.
    ///
    /// - Throws: `PostgreSQLError` if no connection is free in time, none can be made, or the pool is closed.
    func begin(_ transaction: String) throws -> Connection {
      let connection = try take()
      connection.begin(transaction)
      return connection
    }

    /// Takes a connection back, and ends its transaction, of which nothing stays, if it has not ended.
    func end(_ connection: Connection) {
      connection.end()
      give(back: connection)
    }

    /// Runs a single statement outside of a transaction.
    func run(_ statement: String, _ parameters: Parameters) throws -> Answer {
      let connection = try take()
      defer { give(back: connection) }
      return try connection.run(statement, parameters)
    }

    /// What is run first on the connection has no effects if it fails.
    private func take() throws -> Connection {
      if let connection = try takeIdle() {
        connection.mayBeLost = true
        return connection
      }
      do {
        return try connect()
      } catch {
        give(back: nil)
        throw error
      }
    }

    /// An idle connection; nil if the caller may make one.
    private func takeIdle() throws(PostgreSQLError) -> Connection? {
      condition.lock()
      defer { condition.unlock() }
      let end = Date(timeIntervalSinceNow: patience)
      while true {
        guard !isClosed else { throw PostgreSQLError(state: Self.isOver, message: "The store is closed.") }
        if let connection = idle.popLast() {
          used += 1
          return connection
        }
        if used < most {
          used += 1
          return nil
        }
        guard condition.wait(until: end) else {
          throw PostgreSQLError(
            state: Self.noneIsFree,
            message: "All \(most) connections have been in use for \(Int(patience)) seconds.")
        }
      }
    }

    // Not codes of the server's.
    static let noneIsFree = "CP001"
    static let isOver = "CP002"

    private func give(back connection: Connection?) {
      condition.lock()
      defer { condition.unlock() }
      used -= 1
      if let connection, !connection.isLost, !isClosed { idle.append(connection) }
      condition.signal()
    }

    /// Closes the connections that nobody uses now; the others when they are given back.
    func close() {
      condition.lock()
      defer { condition.unlock() }
      isClosed = true
      idle = []
      condition.broadcast()
    }
  }
#endif

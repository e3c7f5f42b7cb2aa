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

    /// A connection on which a transaction has begun.
    ///
    /// - Throws: `PostgreSQLError` if no connection is free in time, none can be made, or the pool is closed.
    func begin(_ transaction: String) throws -> Connection {
      try take { try $0.run(transaction) }.connection
    }

    /// Runs a single statement outside of a transaction.
    func run(_ statement: String, _ parameters: Parameters) throws -> Answer {
      let (connection, answer) = try take { try $0.run(statement, parameters) }
      give(back: connection)
      return answer
    }

    /// Takes a connection and runs its first statement, which has no effects if it fails. A connection that was lost
    /// while nobody used it is replaced.
    private func take<R>(_ body: (Connection) throws -> R) throws -> (connection: Connection, result: R) {
      while true {
        let idle = try takeIdle()
        do {
          let connection = try idle ?? connect()
          return (connection, try body(connection))
        } catch {
          give(back: idle)
          guard idle != nil, (error as? PostgreSQLError)?.isConnectionLost == true else { throw error }
        }
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

    /// Takes a connection back. The caller has ended its transaction, unless the connection is lost.
    func give(back connection: Connection?) {
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

#if PostgreSQL
  import Foundation

  /// What a PostgreSQL server, or the connection to it, has reported.
  ///
  /// It is the underlying error, under `NSUnderlyingErrorKey`, of the errors that a store throws.
  public struct PostgreSQLError: Error, Sendable {
    /// The server's code of five characters: https://www.postgresql.org/docs/current/errcodes-appendix.html. The class
    /// `08` also stands for connections that could not be made or that were lost.
    public let state: String
    /// The server's message, in its language.
    public let message: String

    /// An error with a code and a message.
    public init(state: String, message: String) { (self.state, self.message) = (state, message) }

    /// The error of the server that is the reason of another one; nil if that has another reason.
    init?(beneath error: any Error) {
      let found = error as? PostgreSQLError ?? (error as NSError).userInfo[NSUnderlyingErrorKey] as? PostgreSQLError
      guard let found else { return nil }
      self = found
    }

    /// Whether the connection cannot be used any more. What was sent last may have been done.
    var isConnectionLost: Bool { state.hasPrefix("08") || state.hasPrefix("57P0") }

    /// Whether the same transaction, from its beginning, may succeed now: others have changed what it reads or writes.
    var isConflict: Bool { ["40001", "40P01", "23505", Self.schemaHasChanged].contains(state) }

    /// Whether a statement names a table or a column that is not there.
    var isMissingTable: Bool { ["42P01", "42703"].contains(state) }

    /// Not one of the server's codes: somebody else has changed the schema of the store since a save began.
    static let schemaHasChanged = "CP003"
  }

  extension PostgreSQLError: CustomStringConvertible {
    /// The message and the code.
    public var description: String { "\(message) (\(state))" }
  }
#endif

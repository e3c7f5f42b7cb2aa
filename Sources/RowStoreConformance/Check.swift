extension RowStoreConformance {
  /// A check of one part of the contract.
  public struct Check: Sendable, Identifiable, CustomStringConvertible {
    private let promise: Promise
    private let makeSession: @Sendable () throws -> Session

    init(_ promise: Promise, makeSession: @escaping @Sendable () throws -> Session) {
      self.promise = promise
      self.makeSession = makeSession
    }

    /// What the store must do, as a sentence.
    public var name: String { promise.name }

    /// The name.
    public var id: String { name }

    /// The name.
    public var description: String { name }

    /// Runs the check on a new database, and removes the database afterwards. May be called on any thread, and several
    /// times; blocks the thread until the check is complete, usually for less than a second.
    ///
    /// - Throws: What is wrong with the store, also if the store has thrown an error.
    public func run() throws(Failure) {
      var usedSeed: UInt64?
      do {
        let session = try makeSession()
        let result = Result { try promise.check(session) }
        usedSeed = session.usedSeed
        let end = Result { try session.end() }
        try result.get()
        try end.get()
      } catch {
        throw Failure(check: name, error, seed: usedSeed)
      }
    }
  }
}

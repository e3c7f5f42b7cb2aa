#if PostgreSQL
  import CPostgreSQL

  /// A statement and its parameters.
  struct Statement {
    /// How long the server keeps what it has made of a statement's text.
    enum Preparation {
      /// Until the statement has run.
      case once
      /// As long as the statement is one of the last that were run.
      case recent
      /// As long as there is the connection.
      case always
    }

    let text: String
    var parameters = Parameters()
    var preparation = Preparation.always
  }

  /// A connection to a server, with libpq. One thread at a time uses it.
  @safe final class Connection: @unchecked Sendable {
    /// The first version of the server that has all that is needed: numbers of transactions with 64 bits.
    private static let leastVersion: Int32 = 130_000

    private let address: String
    private let password: (() throws -> String?)?
    private let namespace: String
    private var handle: OpaquePointer
    private var prepared = PreparedStatements()
    /// The statement that begins a transaction, and is sent with the next statements.
    private var beginning: String?
    /// Whether a transaction begins with the next statements.
    var isToBegin: Bool { beginning != nil }
    /// Whether the answer to the end of a transaction has not been read.
    private var isEnding = false
    private(set) var isLost = false
    /// Whether the connection may have been lost while nobody used it. Then it is made anew when that is noticed.
    var mayBeLost = false

    /// - Parameters:
    ///   - address: A connection string or URI as libpq takes it.
    ///   - namespace: The schema of the server in which names are looked up.
    init(_ address: String, password: (() throws -> String?)?, namespace: String) throws {
      (self.address, self.password, self.namespace) = (address, password, namespace)
      unsafe handle = try Self.connection(to: address, try password?(), namespace)
    }

    deinit { unsafe PQfinish(handle) }

    private static func connection(
      to address: String, _ password: String?, _ namespace: String
    ) throws(PostgreSQLError) -> OpaquePointer {
      var keywords = ["dbname": address, "fallback_application_name": "Cairn", "client_encoding": "UTF8"]
      keywords["password"] = password
      guard let handle = unsafe connect(keywords) else {
        throw PostgreSQLError(state: "08000", message: "There is no memory for a connection.")
      }
      do {
        try unsafe prepare(handle, namespace)
        return unsafe handle
      } catch {
        unsafe PQfinish(handle)
        throw error
      }
    }

    private static func prepare(_ handle: OpaquePointer, _ namespace: String) throws(PostgreSQLError) {
      guard unsafe PQstatus(handle) == CONNECTION_OK else { throw unsafe loss(handle) }
      let version = unsafe PQserverVersion(handle)
      guard version >= leastVersion else {
        throw PostgreSQLError(
          state: "0A000",
          message: "The server has version \(version / 10_000); at least 13 is needed.")
      }
      // Notices are not errors, and a library prints nothing.
      _ = unsafe PQsetNoticeReceiver(handle, { _, _ in }, nil)
      // Compiling a statement takes longer than running it: none here reads so much. Statements that are not searches
      // name rows and entries, so an index serves them whatever they name: a plan is made once. A scan would also read
      // what others write, and be in conflict with them.
      let settings = """
        SET search_path TO \(quoted(namespace)), pg_catalog; SET jit TO off;
        SET plan_cache_mode TO force_generic_plan; SET enable_seqscan TO off
        """
      _ = try unsafe checked(PQexec(handle, settings), handle)
    }

    private static func connect(_ keywords: [String: String]) -> OpaquePointer? {
      let pairs = Array(keywords)
      return unsafe withCStrings(pairs.map(\.key)) { names in
        unsafe withCStrings(pairs.map(\.value)) { values in unsafe PQconnectdbParams(names, values, 1) }
      }
    }

    private static func withCStrings<R>(
      _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
      let all = texts.map { $0.utf8CString }.flatMap { Array($0) }
      return unsafe all.withUnsafeBufferPointer { buffer in
        var pointers: [UnsafePointer<CChar>?] = unsafe []
        var offset = 0
        for text in texts {
          unsafe pointers.append(buffer.baseAddress.map { unsafe $0 + offset })
          offset += text.utf8.count + 1
        }
        unsafe pointers.append(nil)
        return unsafe pointers.withUnsafeBufferPointer { pointers in
          guard let start = pointers.baseAddress else { fatalError("an array with an element has no memory") }
          return unsafe body(start)
        }
      }
    }

    /// A name of the server, quoted.
    static func quoted(_ name: String) -> String {
      name.utf8.contains(UInt8(ascii: "\"")) ? "\"\(name.replacing("\"", with: "\"\""))\"" : "\"\(name)\""
    }

    /// Whether a transaction has begun, and neither it nor the connection has ended.
    var isInTransaction: Bool {
      switch unsafe PQtransactionStatus(handle) {
      case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: true
      default: false
      }
    }

    // MARK: Transactions

    /// Begins a transaction together with the next statements.
    func begin(_ statement: String) { beginning = statement }

    /// Ends the transaction, of which nothing stays, if it has not ended. Does not wait for the server.
    func end() {
      beginning = nil
      guard !isLost, isInTransaction else { return }
      isEnding = true
      let isSent =
        unsafe PQenterPipelineMode(handle) == 1 && send(Statement(text: "ROLLBACK", preparation: .once))
        && PQpipelineSync(handle) == 1
      if !isSent { isLost = true }
    }

    /// Reads the answer to the end of the last transaction.
    private func settle() throws(PostgreSQLError) {
      guard isEnding else { return }
      isEnding = false
      defer { _ = unsafe PQexitPipelineMode(handle) }
      try skipToSynchronization()
    }

    // MARK: Statements

    /// Runs one or more statements without parameters and answers.
    func run(_ statements: String) throws {
      try renewing { () throws(PostgreSQLError) in
        try settle()
        let all = beginning.map { "\($0); \(statements)" } ?? statements
        _ = try unsafe Self.checked(PQexec(handle, all), handle)
      }
    }

    /// Runs a statement, which is prepared when it is first run.
    @discardableResult
    func run(_ statement: String, _ parameters: Parameters) throws -> Answer {
      try run([Statement(text: statement, parameters: parameters)])[0]
    }

    /// Runs statements one after the other, without waiting for the answers between them. If one fails, the later ones
    /// are not run.
    ///
    /// - Parameter commits: Whether the transaction is committed if none fails.
    func run(_ statements: [Statement], commits: Bool = false) throws -> [Answer] {
      // Nobody knows whether a commit was made whose answer is lost, unless nothing was sent.
      if commits { mayBeLost = mayBeLost && hasEnded }
      return try renewing { () throws(PostgreSQLError) in
        var answers: [Answer] = []
        try exchange(statements, ending: commits ? Statement(text: "COMMIT", preparation: .once) : nil) {
          answers.append($0)
        }
        return answers
      }
    }

    /// Runs statements one after the other, and calls a closure with each answer while the server makes the next ones.
    /// The closure must not use the connection. If it throws, it is not called again.
    ///
    /// - Parameter areLast: Whether the transaction, of which nothing stays, ends with the statements.
    func run(_ statements: [Statement], areLast: Bool, _ body: (Answer) throws -> Void) throws {
      var failure: (any Error)?
      try renewing { () throws(PostgreSQLError) in
        try exchange(statements, ending: areLast ? Statement(text: "ROLLBACK") : nil) { answer in
          // What the closure has got cannot be taken back.
          mayBeLost = false
          guard failure == nil else { return }
          do { try body(answer) } catch { failure = error }
        }
      }
      if let failure { throw failure }
    }

    /// Runs the first statements that are sent since the connection was idle again if the connection turns out to be
    /// lost.
    private func renewing<R>(_ body: () throws(PostgreSQLError) -> R) throws -> R {
      defer { (beginning, mayBeLost) = (nil, false) }
      do {
        return try body()
      } catch {
        noteLoss(error)
        guard isLost, mayBeLost else { throw error }
      }
      let new = unsafe try Self.connection(to: address, password?(), namespace)
      unsafe PQfinish(handle)
      unsafe handle = new
      (prepared, isEnding, isLost) = (PreparedStatements(), false, false)
      do {
        return try body()
      } catch {
        noteLoss(error)
        throw error
      }
    }

    /// Whether the server has ended the connection, as far as that is known without asking it.
    private var hasEnded: Bool {
      // The first call may find what the server has sent before it ended the connection.
      unsafe PQconsumeInput(handle) == 0 || PQconsumeInput(handle) == 0
    }

    private func noteLoss(_ error: PostgreSQLError) {
      if unsafe PQstatus(handle) != CONNECTION_OK || error.isConnectionLost { isLost = true }
    }

    /// Sends statements, with that which begins the transaction, if it has not begun, and perhaps one that ends it.
    ///
    /// - Parameter body: Called with the answer of each statement as soon as it has come.
    private func exchange(
      _ own: [Statement], ending: Statement?, _ body: (Answer) -> Void
    ) throws(PostgreSQLError) {
      try settle()
      let first = beginning.map { [Statement(text: $0)] } ?? []
      let statements = first + own + (ending.map { [$0] } ?? [])
      guard unsafe PQenterPipelineMode(handle) == 1 else { throw unsafe Self.loss(handle) }
      defer { _ = unsafe PQexitPipelineMode(handle) }
      /// What has been sent; nil for a statement itself.
      var sent: [PreparedStatements.Change?] = []
      for statement in statements {
        let (name, changes) = prepared.use(statement)
        for change in changes {
          sent.append(change)
          guard make(change) else { throw unsafe Self.loss(handle) }
        }
        guard send(statement, as: name) else { throw unsafe Self.loss(handle) }
        sent.append(nil)
      }
      guard unsafe PQpipelineSync(handle) == 1 else { throw unsafe Self.loss(handle) }
      var read = 0
      var count = 0
      do {
        for change in sent {
          let answer = try unsafe Self.checked(PQgetResult(handle), handle)
          read += 1
          // Each answer ends with none.
          while let more = unsafe PQgetResult(handle) { unsafe PQclear(more) }
          guard change == nil else { continue }
          count += 1
          if count > first.count, count <= first.count + own.count { body(answer) }
        }
        try skipToSynchronization()
      } catch {
        for case .preparation(let key, _)? in sent[read...] { prepared.forget(key) }
        if !error.isConnectionLost { try skipToSynchronization() }
        throw error
      }
    }

    /// Reads all answers that the server still sends.
    private func skipToSynchronization() throws(PostgreSQLError) {
      var isEnd = false
      while true {
        guard let result = unsafe PQgetResult(handle) else {
          // Nothing after the end of an answer: there are no more.
          guard !isEnd else { throw unsafe Self.loss(handle) }
          isEnd = true
          continue
        }
        isEnd = false
        defer { unsafe PQclear(result) }
        if unsafe PQresultStatus(result) == PGRES_PIPELINE_SYNC { return }
      }
    }

    private func make(_ change: PreparedStatements.Change) -> Bool {
      switch change {
      case .preparation(let key, let name):
        return unsafe PQsendPrepare(handle, name, key.text, Int32(key.types.count), key.types) == 1
      case .removal(let name):
        return send(Statement(text: "DEALLOCATE \(name)", preparation: .once))
      }
    }

    /// - Parameter name: Of the prepared statement; nil if the text is sent.
    private func send(_ statement: Statement, as name: String? = nil) -> Bool {
      unsafe withValues(of: statement.parameters) { count, values, lengths, formats in
        guard let name else {
          let types = statement.parameters.types
          return unsafe PQsendQueryParams(handle, statement.text, count, types, values, lengths, formats, 1) == 1
        }
        return unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1) == 1
      }
    }

    private func withValues<R>(
      of parameters: Parameters, _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> R
    ) -> R {
      // A parameter without bytes needs an address, too: none stands for null.
      let bytes = parameters.bytes.isEmpty ? [0] : parameters.bytes
      return unsafe bytes.withUnsafeBytes { buffer in
        let start = unsafe buffer.assumingMemoryBound(to: CChar.self).baseAddress
        var values: [UnsafePointer<CChar>?] = unsafe []
        var lengths: [Int32] = []
        for (offset, end) in zip(parameters.offsets, parameters.offsets.dropFirst()) {
          lengths.append(Int32(end - offset))
          unsafe values.append(start.map { unsafe $0 + offset })
        }
        let formats = [Int32](repeating: 1, count: lengths.count)
        return unsafe body(Int32(lengths.count), values, lengths, formats)
      }
    }

    private static func checked(_ result: OpaquePointer?, _ handle: OpaquePointer) throws(PostgreSQLError) -> Answer {
      guard let result = unsafe result else { throw unsafe loss(handle) }
      let answer = unsafe Answer(result)
      switch unsafe PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return answer
      default: break
      }
      defer { withExtendedLifetime(answer) {} }
      guard unsafe PQstatus(handle) == CONNECTION_OK else { throw unsafe loss(handle) }
      guard let state = unsafe PQresultErrorField(result, cairn_diag_sqlstate) else { throw unsafe loss(handle) }
      let text = unsafe PQresultErrorField(result, cairn_diag_message_primary)
      throw PostgreSQLError(
        state: unsafe String(cString: state), message: unsafe text.map { unsafe String(cString: $0) } ?? "")
    }

    /// The error of a connection that was lost or could not be made.
    private static func loss(_ handle: OpaquePointer) -> PostgreSQLError {
      let text = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
      let message = text.split(separator: "\n").joined(separator: " ")
      return PostgreSQLError(state: state(of: message), message: message)
    }

    /// libpq has no code for what the server answers to an attempt to connect, only the text.
    private static func state(of message: String) -> String {
      if message.contains("does not exist") { return message.contains("database") ? "3D000" : "28000" }
      if message.contains("authentication failed") || message.contains("no password supplied") { return "28P01" }
      if message.contains("too many clients") || message.contains("remaining connection slots") { return "53300" }
      return "08006"
    }
  }
#endif

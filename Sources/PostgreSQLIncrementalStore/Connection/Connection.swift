#if PostgreSQL
  import CPostgreSQL

  /// A connection to a server, with libpq. One thread at a time uses it.
  @safe final class Connection: @unchecked Sendable {
    /// The first version of the server that has all that is needed: numbers of transactions with 64 bits.
    private static let leastVersion: Int32 = 130_000

    private let handle: OpaquePointer
    /// The names of the prepared statements, by their texts.
    private var prepared: [String: String] = [:]
    private(set) var isLost = false

    /// - Parameters:
    ///   - address: A connection string or URI as libpq takes it.
    ///   - namespace: The schema of the server in which names are looked up.
    init(_ address: String, password: String?, namespace: String) throws(PostgreSQLError) {
      var keywords = ["dbname": address, "fallback_application_name": "Cairn", "client_encoding": "UTF8"]
      keywords["password"] = password
      guard let handle = unsafe Self.connect(keywords) else {
        throw PostgreSQLError(state: "08000", message: "There is no memory for a connection.")
      }
      unsafe self.handle = handle
      guard unsafe PQstatus(handle) == CONNECTION_OK else { throw loss() }
      let version = unsafe PQserverVersion(handle)
      guard version >= Self.leastVersion else {
        throw PostgreSQLError(
          state: "0A000",
          message: "The server has version \(version / 10_000); at least 13 is needed.")
      }
      // Notices are not errors, and a library prints nothing.
      _ = unsafe PQsetNoticeReceiver(handle, { _, _ in }, nil)
      // Compiling a statement takes longer than running it: none here reads so much.
      try run("SET search_path TO \(Self.quoted(namespace)), pg_catalog; SET jit TO off")
    }

    deinit { unsafe PQfinish(handle) }

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
    static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    /// Whether a transaction has begun, and neither it nor the connection has ended.
    var isInTransaction: Bool {
      switch unsafe PQtransactionStatus(handle) {
      case PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE: true
      default: false
      }
    }

    // MARK: Statements

    /// Runs one or more statements without parameters and answers.
    func run(_ statements: String) throws(PostgreSQLError) {
      _ = try unsafe checked(PQexec(handle, statements))
    }

    /// Runs a statement, which is prepared when it is first run.
    @discardableResult
    func run(_ statement: String, _ parameters: Parameters) throws(PostgreSQLError) -> Answer {
      let name = try name(of: statement, parameters.types)
      let result = unsafe withValues(of: parameters) { count, values, lengths, formats in
        unsafe PQexecPrepared(handle, name, count, values, lengths, formats, 1)
      }
      return try unsafe checked(result)
    }

    /// Runs a statement that is not prepared: one that is not likely to be run again.
    func runOnce(_ statement: String, _ parameters: Parameters) throws(PostgreSQLError) -> Answer {
      let result = unsafe withValues(of: parameters) { count, values, lengths, formats in
        unsafe PQexecParams(handle, statement, count, parameters.types, values, lengths, formats, 1)
      }
      return try unsafe checked(result)
    }

    private func send(_ name: String, _ parameters: Parameters) -> Int32 {
      unsafe withValues(of: parameters) { count, values, lengths, formats in
        unsafe PQsendQueryPrepared(handle, name, count, values, lengths, formats, 1)
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

    /// Runs statements one after the other, without waiting for the answers between them. If one fails, the later ones
    /// are not run.
    func run(_ statements: [(text: String, parameters: Parameters)]) throws(PostgreSQLError) -> [Answer] {
      let names = try names(of: statements)
      guard unsafe PQenterPipelineMode(handle) == 1 else { throw loss() }
      defer { _ = unsafe PQexitPipelineMode(handle) }
      for (name, (_, parameters)) in zip(names, statements) {
        guard send(name, parameters) == 1 else { throw loss() }
      }
      guard unsafe PQpipelineSync(handle) == 1 else { throw loss() }
      var answers: [Answer] = []
      var failure: PostgreSQLError?
      for _ in statements where failure == nil {
        do {
          answers.append(try unsafe checked(PQgetResult(handle)))
          // Each answer ends with none.
          discardResults()
        } catch {
          failure = error
        }
      }
      guard let failure else {
        // The answer to the synchronization.
        discardResults()
        return answers
      }
      // As many answers as are left, and that to the synchronization.
      if !isLost { for _ in answers.count...statements.count { discardResults() } }
      throw failure
    }

    private func discardResults() {
      while let result = unsafe PQgetResult(handle) { unsafe PQclear(result) }
    }

    private func names(of statements: [(text: String, parameters: Parameters)]) throws(PostgreSQLError) -> [String] {
      var names: [String] = []
      for (text, parameters) in statements { names.append(try name(of: text, parameters.types)) }
      return names
    }

    private func name(of statement: String, _ types: [UInt32]) throws(PostgreSQLError) -> String {
      if let name = prepared[statement] { return name }
      let name = "s\(prepared.count)"
      let result = unsafe PQprepare(handle, name, statement, Int32(types.count), types)
      _ = try unsafe checked(result)
      prepared[statement] = name
      return name
    }

    private func checked(_ result: OpaquePointer?) throws(PostgreSQLError) -> Answer {
      guard let result = unsafe result else { throw loss() }
      let answer = unsafe Answer(result)
      switch unsafe PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: return answer
      default: break
      }
      defer { withExtendedLifetime(answer) {} }
      guard unsafe PQstatus(handle) == CONNECTION_OK else { throw loss() }
      guard let state = unsafe PQresultErrorField(result, cairn_diag_sqlstate) else { throw loss() }
      let text = unsafe PQresultErrorField(result, cairn_diag_message_primary)
      let error = PostgreSQLError(
        state: unsafe String(cString: state), message: unsafe text.map { unsafe String(cString: $0) } ?? "")
      isLost = isLost || error.isConnectionLost
      throw error
    }

    private func loss() -> PostgreSQLError {
      isLost = true
      let text = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
      let message = text.split(separator: "\n").joined(separator: " ")
      return PostgreSQLError(state: Self.state(of: message), message: message)
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

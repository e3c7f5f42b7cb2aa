#if HTTP
  import AsyncHTTPClient
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL
  import RemoteIncrementalStore

  /// A request to a backend.
  struct Request: Sendable {
    let method: HTTPMethod
    let url: String
    var headers: [String: String] = [:]
    var body: Data?

    /// The method and the path. The parameters may have what is not for everybody's eyes.
    var name: String { "\(method.rawValue) \(URL(string: url)?.path() ?? "")" }
  }

  /// Sends requests, with credentials and within the time limit.
  struct Transport: Sendable {
    let client: HTTPClient
    let headers: [String: String]
    let timeLimit: Duration
    let answerBytesMax: Int
    let credentials: (@Sendable (_ wereRefused: Bool) async throws -> [String: String])?

    init(
      _ description: HTTPDescription, _ configuration: HTTPClient.Configuration,
      _ credentials: (@Sendable (_ wereRefused: Bool) async throws -> [String: String])?
    ) {
      var configuration = configuration
      // A redirection could take credentials to another server.
      configuration.redirectConfiguration = .disallow
      // A failure to connect is reported at once: the store knows when to try again.
      configuration.connectionPool.retryConnectionEstablishment = false
      // Before the time limit, so that it is known that nothing was sent.
      configuration.timeout.connect =
        configuration.timeout.connect ?? TimeAmount(min(.seconds(10), description.timeLimit / 2))
      client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
      (headers, timeLimit) = (description.headers, description.timeLimit)
      (answerBytesMax, self.credentials) = (description.answerBytesMax, credentials)
    }

    /// The answer to a request. Credentials that the backend does not accept are asked for once more.
    func answer(to request: Request) async throws -> Answer {
      var answer = try await answerOfAny(request, try await headers(wereRefused: false))
      if answer.status == 401, credentials != nil {
        answer = try await answerOfAny(request, try await headers(wereRefused: true))
      }
      guard answer.status != 401, answer.status != 403 || answer.asksToWait else {
        throw RemoteFailure.unauthorized(answer.reason)
      }
      return answer
    }

    private func headers(wereRefused: Bool) async throws -> [String: String] {
      guard let credentials else { return [:] }
      do {
        return try await credentials(wereRefused)
      } catch let error as RemoteFailure {
        throw error
      } catch {
        try Task.checkCancellation()
        // Nobody knows what that error tells.
        throw RemoteFailure.unauthorized("there are no credentials")
      }
    }

    /// The answer to a request, which is sent a second time if that is safe and the first answer was lost.
    private func answerOfAny(_ request: Request, _ credentials: [String: String]) async throws -> Answer {
      guard request.method == .GET else { return try await sent(request, credentials) }
      let start = ContinuousClock.now
      do {
        let answer = try await sent(request, credentials)
        if answer.status < 500 || [501, 503].contains(answer.status) { return answer }
      } catch let failure as RemoteFailure {
        guard case .answerLost = failure, .now - start < timeLimit else { throw failure }
      }
      return try await sent(request, credentials)
    }

    private func sent(_ request: Request, _ credentials: [String: String]) async throws -> Answer {
      var message = HTTPClientRequest(url: request.url)
      message.method = request.method
      for (name, value) in [headers, request.headers, credentials].joined() {
        message.headers.replaceOrAdd(name: name, value: value)
      }
      message.body = request.body.map { .bytes(ByteBuffer(bytes: $0)) }
      // With and without the scheme.
      let secrets = credentials.values.flatMap { [$0] + $0.split(separator: " ").dropFirst().map(String.init) }
      do {
        return try await withTimeLimit { [message] in
          let response = try await client.execute(message, deadline: .distantFuture)
          let body = try await response.body.collect(upTo: answerBytesMax)
          return Answer(
            request: request.name, status: Int(response.status.code), headers: response.headers,
            body: Data(body.readableBytesView), secrets: secrets.filter { !$0.isEmpty })
        }
      } catch {
        try Task.checkCancellation()
        throw failure(error, of: request)
      }
    }

    private func withTimeLimit(_ operation: @escaping @Sendable () async throws -> Answer) async throws -> Answer {
      try await withThrowingTaskGroup(of: Answer?.self) { group in
        defer { group.cancelAll() }
        group.addTask { try await operation() }
        group.addTask {
          try await Task.sleep(for: timeLimit)
          return nil
        }
        guard let answer = try await group.next() ?? nil else { throw TimeIsUp() }
        return answer
      }
    }

    /// What an error of the client means. Its text may have headers and the whole URL, and so is not used.
    private func failure(_ error: any Error, of request: Request) -> RemoteFailure {
      switch error {
      case is TimeIsUp: .answerLost("\(request.name): no answer within \(timeLimit)")
      case is NIOTooManyBytesError:
        .invalidAnswer("\(request.name): the answer has more than \(answerBytesMax) bytes")
      case let error as HTTPClientError where error.isBeforeSending:
        .unreachable("\(request.name): \(error.shortDescription)")
      case let error as HTTPClientError: .answerLost("\(request.name): \(error.shortDescription)")
      case is NIOConnectionError: .unreachable("\(request.name): no connection")
      // An established connection does not fail so within a time limit of minutes.
      case let error as IOError where [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH].contains(error.errnoCode):
        .unreachable("\(request.name): no connection, errno \(error.errnoCode)")
      case NIOSSLError.handshakeFailed: .unreachable("\(request.name): the TLS handshake has failed")
      case NIOSSLError.noCertificateToValidate, NIOSSLError.unableToValidateCertificate, is NIOSSLExtraError:
        .unreachable("\(request.name): the certificate is not valid")
      default: .answerLost("\(request.name): the connection was lost")
      }
    }
  }

  /// The time limit of a request has passed.
  private struct TimeIsUp: Error {}

  extension HTTPClientError {
    /// Whether an error says that there was no connection on which a request could be sent.
    fileprivate var isBeforeSending: Bool {
      let errors: [HTTPClientError] = [
        .connectTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
        .getConnectionFromPoolTimeout, .proxyAuthenticationRequired, .invalidProxyResponse, .alreadyShutdown,
        .emptyHost, .emptyScheme, .invalidURL,
      ]
      // These have what was invalid with them.
      let texts = [HTTPClientError.invalidHeaderFieldNames([]), .invalidHeaderFieldValues([])].map(\.shortDescription)
      return errors.contains(self) || texts.contains(shortDescription)
    }
  }
#endif

import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOPosix
import RemoteHTTP
import Synchronization

/// A request that a backend has received.
struct Received: Sendable {
  let method: String
  let path: String
  let query: String
  let host: String
  let headers: HTTPFields
  let body: String

  func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }
}

/// A server on a loopback socket, and what it has received.
final class Backend: Sendable {
  let url: URL
  private let log: Log

  init(port: Int, log: Log) { (url, self.log) = (URL(string: "http://127.0.0.1:\(port)")!, log) }

  var received: [Received] { log.requests.withLock { $0 } }

  /// The methods, paths and queries of the requests.
  var lines: [String] { received.map { "\($0.method) \($0.path)\($0.query.isEmpty ? "" : "?")\($0.query)" } }

  final class Log: Sendable {
    let requests = Mutex<[Received]>([])

    /// Returns how many requests there were before.
    func add(_ request: Received) -> Int {
      requests.withLock {
        $0.append(request)
        return $0.count - 1
      }
    }
  }
}

/// Runs a backend whose answers depend on the request and on the number of earlier requests.
///
/// The backend goes on until the process ends. A server of NIO that is cancelled ends the process if it has accepted a
/// connection and nobody has taken it yet: https://github.com/apple/swift-nio/issues/2637
func withBackend(
  _ answer: @escaping @Sendable (Received, Int) async throws -> Response, _ body: (Backend) async throws -> Void
) async throws {
  let log = Backend.Log()
  let (ports, port) = AsyncThrowingStream.makeStream(of: Int.self)
  let responder = CallbackResponder { (request: Request, _: BasicRequestContext) in
    let bytes = try await request.body.collect(upTo: 1 << 20)
    let received = Received(
      method: request.method.rawValue, path: request.uri.path, query: request.uri.query ?? "",
      host: request.head.authority ?? "", headers: request.headers, body: String(buffer: bytes))
    return try await answer(received, log.add(received))
  }
  let application = Application(
    responder: responder, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
    onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: Logger(label: "backend") { _ in Silence() })
  Task {
    do { try await application.run() } catch { port.finish(throwing: error) }
  }
  for try await port in ports {
    try await body(Backend(port: port, log: log))
    break
  }
}

/// Runs a server that gives the same answer, byte for byte, as soon as it has received something, closes the connection
/// then, and counts these.
func withClosingServer(answer: String = "", _ body: (URL, () -> Int) async throws -> Void) async throws {
  let counter = Counter()
  let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
    .childChannelInitializer { channel in channel.pipeline.addHandler(Closing(answer, counter)) }
    .bind(host: "127.0.0.1", port: 0).get()
  do {
    try await body(URL(string: "http://127.0.0.1:\(channel.localAddress!.port!)")!) {
      counter.count.load(ordering: .relaxed)
    }
  } catch {
    try await channel.close()
    throw error
  }
  try await channel.close()
}

private final class Counter: Sendable {
  let count = Atomic(0)
}

private final class Closing: ChannelInboundHandler, Sendable {
  typealias InboundIn = ByteBuffer
  let answer: String
  let counter: Counter

  init(_ answer: String, _ counter: Counter) { (self.answer, self.counter) = (answer, counter) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    counter.count.add(1, ordering: .relaxed)
    context.writeAndFlush(NIOAny(ByteBuffer(string: answer)), promise: nil)
    context.close(promise: nil)
  }
}

private struct Silence: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.critical

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {}
}

extension Response {
  /// An answer in JSON.
  static func json(
    _ text: String, _ status: HTTPResponse.Status = .ok, headers: [String: String] = [:]
  ) -> Response {
    var fields: HTTPFields = [.contentType: "application/json"]
    for (name, value) in headers { fields[HTTPField.Name(name)!] = value }
    return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  /// An answer without a body.
  static func empty(_ status: HTTPResponse.Status, headers: [String: String] = [:]) -> Response {
    var fields = HTTPFields()
    for (name, value) in headers { fields[HTTPField.Name(name)!] = value }
    return Response(status: status, headers: fields)
  }

  /// An answer whose connection is closed in the middle of the body.
  static func cut(_ text: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: "application/json"],
      body: ResponseBody(contentLength: text.utf8.count + 10) { writer in
        try await writer.write(ByteBuffer(string: text))
        throw CutError()
      })
  }
}

private struct CutError: Error {}

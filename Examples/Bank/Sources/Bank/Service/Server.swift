import NIOCore
import NIOHTTP1
import NIOPosix

/// Accepts connections, and answers their requests with the router.
struct Server: Sendable {
  private typealias Connection = NIOAsyncChannel<NIOHTTPServerRequestFull, HTTPServerResponsePart>

  private let listener: NIOAsyncChannel<Connection, Never>
  private let router: Router
  private let connections = OpenConnections()

  /// - Parameter port: 0 for a port that the system chooses.
  init(port: Int, _ router: Router) async throws {
    self.router = router
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .bind(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(NIOHTTPServerRequestAggregator(maxContentLength: 4096))
          return try Connection(wrappingChannelSynchronously: channel)
        }
      }
  }

  var port: Int { listener.channel.localAddress?.port ?? 0 }

  /// Serves until ``stop()`` is called and the current requests are answered.
  func run() async throws {
    try await withThrowingDiscardingTaskGroup { group in
      try await listener.executeThenClose { accepted in
        for try await connection in accepted {
          group.addTask { await serve(connection) }
        }
      }
    }
  }

  /// Stops accepting connections, and closes each open connection after its current response.
  func stop() async throws {
    try await listener.channel.close()
    connections.quiesce()
  }

  private func serve(_ connection: Connection) async {
    connections.add(connection.channel)
    defer { connections.remove(connection.channel) }
    // A client that disconnects ends only its own connection.
    try? await connection.executeThenClose { requests, responses in
      for try await request in requests {
        let response = await router.response(to: request)
        var head = HTTPResponseHead(version: request.head.version, status: response.status)
        head.headers.add(name: "Content-Type", value: "application/json")
        head.headers.add(name: "Content-Length", value: "\(response.body.count)")
        if !request.head.isKeepAlive { head.headers.add(name: "Connection", value: "close") }
        try await responses.write(contentsOf: [
          .head(head), .body(.byteBuffer(ByteBuffer(bytes: response.body))), .end(nil),
        ])
        if !request.head.isKeepAlive { return }
      }
    }
  }
}

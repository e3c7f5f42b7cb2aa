import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// One connection to the service. Each request waits for the answer to the previous one.
struct Client {
  typealias Connection = NIOAsyncChannel<NIOHTTPClientResponseFull, HTTPClientRequestPart>

  /// An answer other than the one that was expected.
  struct UnexpectedAnswer: Error, CustomStringConvertible {
    var status: HTTPResponseStatus
    var body: String
    var description: String { "\(status.code) \(body)" }
  }

  private var responses: NIOAsyncChannelInboundStream<NIOHTTPClientResponseFull>.AsyncIterator
  private let requests: NIOAsyncChannelOutboundWriter<HTTPClientRequestPart>

  /// Connects, and closes the connection when the body returns.
  static func with<Result>(
    port: Int, _ body: (inout Client) async throws -> Result
  ) async throws -> Result {
    let connection = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .connect(host: "127.0.0.1", port: port) { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHTTPClientHandlers()
          try channel.pipeline.syncOperations.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: 4096))
          return try Connection(wrappingChannelSynchronously: channel)
        }
      }
    return try await connection.executeThenClose { responses, requests in
      var client = Client(responses: responses.makeAsyncIterator(), requests: requests)
      return try await body(&client)
    }
  }

  mutating func get<Reply: Decodable>(_ path: String) async throws -> Reply {
    try await send(.GET, path, Data())
  }

  mutating func post<Reply: Decodable>(_ path: String, _ body: some Encodable) async throws -> Reply {
    try await send(.POST, path, try JSONEncoder().encode(body))
  }

  private mutating func send<Reply: Decodable>(
    _ method: HTTPMethod, _ path: String, _ body: Data
  ) async throws -> Reply {
    var head = HTTPRequestHead(version: .http1_1, method: method, uri: path)
    head.headers.add(name: "Host", value: "127.0.0.1")
    head.headers.add(name: "Content-Length", value: "\(body.count)")
    try await requests.write(contentsOf: [.head(head), .body(.byteBuffer(ByteBuffer(bytes: body))), .end(nil)])
    guard let response = try await responses.next() else { throw ChannelError.eof }
    let answer = Data((response.body ?? ByteBuffer()).readableBytesView)
    guard (200..<300).contains(response.head.status.code) else {
      throw UnexpectedAnswer(status: response.head.status, body: String(decoding: answer, as: UTF8.self))
    }
    return try JSONDecoder().decode(Reply.self, from: answer)
  }
}

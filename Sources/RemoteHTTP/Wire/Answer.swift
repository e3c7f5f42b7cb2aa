#if HTTP
  import Foundation
  import NIOHTTP1
  import RemoteIncrementalStore

  /// An answer to a request, whatever its status.
  struct Answer: Sendable {
    /// What was asked for, as in `GET /bugs`.
    let request: String
    let status: Int
    let headers: HTTPHeaders
    let body: Data
    /// The credentials that the request had, which no text may have.
    let secrets: [String]

    /// The version of the object or list.
    var tag: String? { headers.first(name: "ETag") }

    /// How long the answer stays fresh; nil if it does not say so.
    var freshFor: Duration? {
      CacheControl.freshness(headers["Cache-Control"], age: headers.first(name: "Age"))
    }

    /// The body as JSON.
    func json() throws -> JSONValue {
      do {
        return try JSONDecoder().decode(JSONValue.self, from: body)
      } catch {
        throw RemoteFailure.invalidAnswer("\(request): the body, of \(body.count) bytes, is not JSON")
      }
    }

    /// The answer itself if it is one to a request that has succeeded, or that nothing has changed.
    func succeeded() throws -> Answer {
      switch status {
      case 200..<300, 304: return self
      case 404, 410: throw RemoteFailure.gone
      case _ where asksToWait: throw RemoteFailure.later(retryAfter)
      case 501: throw RemoteFailure.unsupported
      case 500...: throw RemoteFailure.answerLost(reason)
      default: throw RemoteFailure.refused(reason)
      }
    }

    /// Whether the backend has not done anything, and wants to be asked again later. Some backends limit the rate of
    /// requests with 403.
    var asksToWait: Bool {
      [408, 425, 429, 503].contains(status) || status == 403 && headers.contains(name: "Retry-After")
    }

    /// How long the backend wants to be left alone; nil if it does not say so.
    var retryAfter: Duration? {
      guard let text = headers.first(name: "Retry-After") else { return nil }
      if let seconds = Int64(text) { return .seconds(min(max(seconds, 0), 1 << 32)) }
      guard let date = HTTPDate.parse(text) else { return nil }
      let now = headers.first(name: "Date").flatMap(HTTPDate.parse) ?? Date.now
      return .seconds(max(date.timeIntervalSince(now), 0))
    }

    /// What was asked for, the status, and what the body says of it, in 300 characters at most.
    var reason: String {
      let json = try? JSONDecoder().decode(JSONValue.self, from: body)
      var text = "\(request): \(HTTPResponseStatus(statusCode: status))"
      for key in ["message", "detail", "title", "error.message", "error"] {
        guard case .string(let message)? = json?[key] else { continue }
        text += ": \(message)"
        break
      }
      for secret in secrets { text.replace(secret, with: "…") }
      return String(text.prefix(300))
    }
  }
#endif

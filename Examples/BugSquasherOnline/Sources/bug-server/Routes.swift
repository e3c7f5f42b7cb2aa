import Foundation
import HTTPTypes
import Hummingbird

/// From requests to the tracker.
struct Routes: Sendable {
  let tracker: BugTracker
  /// How long the answer to a change is held back after the change was made.
  let delay: Duration

  func router() -> Router<BasicRequestContext> {
    let router = Router()
    router.get("/bugs") { request, _ in
      await response { try await tracker.list(ListQuery(request)).unless(request) }
    }
    router.get("/bugs/:id") { request, context in
      await response { try await tracker.show(id(context)).unless(request) }
    }
    router.get("/users") { request, _ in
      await response { try .json(User.all) }
    }
    router.get("/users/:id") { _, context in
      await response {
        let id = try id(context)
        let user = User.all.first { $0.id == id }
        return try user.map { try .json($0) } ?? .error(404, "There is no such user.")
      }
    }
    router.get("/changes") { request, _ in
      let since = request.uri.queryParameters["since"]
      return await response { try await tracker.changes(since: since.flatMap { Int($0) }) }
    }
    router.post("/bugs") { request, _ in
      await response(after: delay) { try await tracker.add(change(request), key: key(request)) }
    }
    router.patch("/bugs/:id") { request, context in
      await response(after: delay) {
        try await tracker.edit(
          id(context), change(request), ifMatch: request.headers[.ifMatch], key: key(request))
      }
    }
    router.delete("/bugs/:id") { request, context in
      await response(after: delay) {
        try await tracker.delete(id(context), ifMatch: request.headers[.ifMatch], key: key(request))
      }
    }
    return router
  }

  private func response(
    after delay: Duration = .zero, _ answer: () async throws -> Answer
  ) async -> Response {
    let result: Answer
    do {
      result = try await answer()
    } catch let refusal as Answer {
      result = refusal
    } catch {
      result = .error(500, "\(error)")
    }
    if delay > .zero { try? await Task.sleep(for: delay) }
    return result.response
  }

  private func id(_ context: BasicRequestContext) throws -> Int {
    guard let id = context.parameters.get("id", as: Int.self) else { throw Answer.error(404, "That is no number.") }
    return id
  }

  private func key(_ request: Request) -> String? {
    HTTPField.Name("Idempotency-Key").flatMap { request.headers[$0] }
  }

  private func change(_ request: Request) async throws -> BugChange {
    let body = try await request.body.collect(upTo: 1 << 16)
    do {
      return try JSONDecoder().decode(BugChange.self, from: Data(body.readableBytesView))
    } catch {
      throw Answer.error(400, "The body is not the JSON of a bug.")
    }
  }
}

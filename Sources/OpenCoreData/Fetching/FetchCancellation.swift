import Synchronization

/// Whether the caller of fetches has lost interest in their results. Stores ask while they look for rows.
package final class FetchCancellation: Sendable {
  private let isRequested = Atomic(false)

  init() {}

  func request() { isRequested.store(true, ordering: .relaxed) }

  /// That of the fetches of the running block; nil if they cannot be cancelled.
  @TaskLocal static var current: FetchCancellation?

  /// Throws `CancellationError` if it was requested.
  static func check(_ cancellation: FetchCancellation) throws {
    if cancellation.isRequested.load(ordering: .relaxed) { throw CancellationError() }
  }

  /// Throws `CancellationError` if the fetches of the running block were cancelled.
  package static func check() throws {
    if let current { try check(current) }
  }
}

/// The part of a request's results that is returned.
struct FetchWindow {
  let offset: Int
  let limit: Int

  init<Result>(_ request: NSFetchRequest<Result>) {
    offset = max(0, request.fetchOffset)
    limit = request.fetchLimit > 0 ? request.fetchLimit : .max
  }

  private init(offset: Int, limit: Int) {
    self.offset = offset
    self.limit = limit
  }

  /// The window in the results without the first `count`, which are before it.
  func moved(by count: Int) -> FetchWindow { FetchWindow(offset: offset - count, limit: limit) }

  /// The index of the first result after the window.
  var end: Int { limit > Int.max - offset ? .max : offset + limit }

  func callAsFunction<Element>(_ results: some Sequence<Element>) -> [Element] {
    Array(results.dropFirst(offset).prefix(limit))
  }
}

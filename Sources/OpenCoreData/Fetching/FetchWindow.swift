/// The part of a request's results that is returned.
struct FetchWindow {
  let offset: Int
  let limit: Int

  init<Result>(_ request: NSFetchRequest<Result>) {
    offset = max(0, request.fetchOffset)
    limit = request.fetchLimit > 0 ? request.fetchLimit : .max
  }

  /// The index of the first result after the window.
  var end: Int { limit > Int.max - offset ? .max : offset + limit }

  func callAsFunction<Element>(_ results: some Sequence<Element>) -> [Element] {
    Array(results.dropFirst(offset).prefix(limit))
  }
}

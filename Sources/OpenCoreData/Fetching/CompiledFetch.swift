package import Foundation

/// A fetch request compiled for execution over rows: the part that all stores have in common.
///
/// Everything is evaluated in memory, as ``CompiledPredicate`` and ``CompiledSort`` do. A store that finds some rows
/// with an index passes only these rows.
package struct CompiledFetch<Row> {
  let matches: (Row) -> Bool
  let sort: CompiledSort<Row>?
  let window: FetchWindow
  /// Nil if the request is not for dictionaries.
  let projection: DictionaryProjection<Row>?

  /// Checks and compiles a request. Takes time proportional to its size, constant collections included.
  ///
  /// - Parameters:
  ///   - request: The request; it is not retained.
  ///   - entity: The entity whose objects it fetches.
  ///   - test: Tests rows as the predicate would. Then the predicate, which must be valid, is neither checked nor
  ///     compiled. Nil if nobody else tests rows.
  ///   - reader: How rows are read. The value of a to-one relationship is the object, or a value that represents it.
  package init<Result>(
    _ request: NSFetchRequest<Result>, of entity: NSEntityDescription, testedBy test: ((Row) -> Bool)? = nil,
    reading reader: @autoclosure () -> RowReader<Row>
  ) throws(FetchRequestError) {
    let givesDictionaries = request.resultType == .dictionaryResultType
    let groups = request.propertiesToGroupBy?.isEmpty == false
    guard givesDictionaries || !groups else { throw FetchRequestError(.groupingWithoutDictionaries, entity) }
    guard groups || request.havingPredicate == nil else { throw FetchRequestError(.havingWithoutGrouping, entity) }
    window = FetchWindow(request)
    if let test, !givesDictionaries, request.sortDescriptors?.isEmpty ?? true {
      (matches, sort, projection) = (test, nil, nil)
      return
    }
    let compiler = FetchCompiler(validator: FetchRequestValidator(entity), reader: reader())
    matches = if let test { test } else { try compiler.test(request.predicate) }
    sort = try compiler.sort(request.sortDescriptors)
    projection = givesDictionaries ? try DictionaryProjection(request, compiler, sort) : nil
  }

  /// The rows to fetch, in their order, among the rows of the entity and of its included subentities.
  ///
  /// Without sort descriptors, rows stay in the order in which they are passed, and rows after the limit are not
  /// evaluated.
  package func rows(among rows: some Sequence<Row>) -> [Row] { collected(rows).result }

  /// The dictionaries to fetch, if the request is for dictionaries.
  package func dictionaries(among rows: some Sequence<Row>) -> [NSDictionary] { collected(rows).dictionaries }

  /// The number of objects to fetch.
  package func count(among rows: some Sequence<Row>) -> Int { window(rows.lazy.filter(matches)).count }

  private func collected(_ rows: some Sequence<Row>) -> FetchCollector<Row> {
    var collector = FetchCollector(self)
    for row in rows where !collector.offer(row, copy: { $0 }) { break }
    return collector
  }
}

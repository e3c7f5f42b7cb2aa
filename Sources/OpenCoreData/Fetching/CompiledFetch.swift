package import Foundation

/// A fetch request made ready to be executed over rows: what all stores have in common.
///
/// Everything is evaluated in memory, as ``CompiledPredicate`` and ``CompiledSort`` do. A store that finds some rows by an index
/// gives just these.
package struct CompiledFetch<Row> {
  let matches: (Row) -> Bool
  let sort: CompiledSort<Row>?
  let window: FetchWindow
  private let projection: DictionaryProjection<Row>?

  /// Checks and compiles a request. Takes time in proportion to its size, constant collections included.
  ///
  /// - Parameters:
  ///   - request: The request; it is not retained.
  ///   - entity: The entity whose objects it fetches.
  ///   - reader: How rows are read. For a to-one relationship they have the object, or what stands for it.
  package init<Result>(
    _ request: NSFetchRequest<Result>, of entity: NSEntityDescription, reading reader: RowReader<Row>
  ) throws(FetchRequestError) {
    let givesDictionaries = request.resultType == .dictionaryResultType
    let groups = request.propertiesToGroupBy?.isEmpty == false
    guard givesDictionaries || !groups else { throw FetchRequestError(.groupingWithoutDictionaries, entity) }
    guard groups || request.havingPredicate == nil else { throw FetchRequestError(.havingWithoutGrouping, entity) }
    let compiler = FetchCompiler(validator: FetchRequestValidator(entity), reader: reader)
    matches = try compiler.test(request.predicate)
    sort = try compiler.sort(request.sortDescriptors)
    window = FetchWindow(request)
    projection = givesDictionaries ? try DictionaryProjection(request, compiler) : nil
  }

  /// The rows of the objects to fetch, in their order, among those of the entity and of the subentities to include.
  ///
  /// Without sort descriptors they stay in the order they come in, and those behind the limit are not looked at.
  package func rows(among rows: some Sequence<Row>) -> [Row] {
    guard let sort else { return window(rows.lazy.filter(matches)) }
    return window(sort.sorted(rows.filter(matches)))
  }

  /// The dictionaries to fetch, if the request is for dictionaries.
  package func dictionaries(among rows: some Sequence<Row>) -> [NSDictionary] {
    dictionaries(ofMatching: rows.filter(matches))
  }

  /// The dictionaries to fetch of rows that the predicate is known to hold for.
  func dictionaries(ofMatching rows: [Row]) -> [NSDictionary] {
    guard let projection else { preconditionFailure("The request is not for dictionaries.") }
    return projection.dictionaries(of: rows, window)
  }

  var givesDictionaries: Bool { projection != nil }

  /// How many objects or dictionaries there are to fetch.
  package func count(among rows: some Sequence<Row>) -> Int {
    if projection != nil { return dictionaries(among: rows).count }
    return window(rows.lazy.filter(matches)).count
  }
}

import CoreData

/// What fetches write to standard error if the user default `com.apple.CoreData.SQLDebug` is set, as by the argument
/// `-com.apple.CoreData.SQLDebug 1`.
///
/// From 1 on, a line for each fetch, and one for each statement that the fetch has sent to a database; from 2 on, also the
/// predicate and the sort descriptors of the fetch; from 3 on, also the values of the statements' parameters. A fetch
/// that reads a hundred times as many rows as it finds says so, once for each entity and predicate.
enum FetchLog {
  private static let level = UserDefaults.standard.integer(forKey: "com.apple.CoreData.SQLDebug")
  /// The least number of rows about which there is a warning.
  private static let manyRows = 1000
  private static let lock = NSLock()
  nonisolated(unsafe) private static var warned: Set<String> = []

  static var isOn: Bool { level > 0 }

  static func note(_ request: NSFetchRequest<NSManagedObject>, _ report: FetchReport) {
    let predicate = request.predicate.map { "\($0)" } ?? "all"
    var line = "fetch: \(report)"
    if level > 1 { line += "; \(predicate), sorted by \(request.sortDescriptors ?? [])" }
    write(line)
    for statement in report.statements {
      write("sql: \(statement.text)")
      if level > 2 {
        for (place, value) in statement.values.enumerated() { write("bound: $\(place + 1) = \(value)") }
      }
    }
    if report.rowsRead >= manyRows, report.rowsRead / 100 >= report.results,
      lock.withLock({ unsafe warned.insert("\(report.entityName) \(predicate)").inserted })
    {
      write(
        "warning: a fetch of \(report.entityName) has read \(report.rowsRead) rows for \(report.results) results. "
          + "An index may help: \(predicate)")
    }
  }

  private static func write(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data("CoreData: \(line)\n".utf8))
  }
}

#if PostgreSQL
  import IncrementalStore

  /// Reads the rows of a table by pages, so that other reads can take place between them.
  struct PageReader {
    /// About how many bytes a page of rows has.
    private static let pageBytes = 1 << 20
    private static let pageRows = 16...4096

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Calls `body` with each page of rows in the order of the references, until it returns false.
    func forEachPage(
      of table: RowTable, from first: RowReference?, _ body: ([StoredRow]) throws -> Bool
    ) throws {
      var next = first
      var isIncluded = true
      var count = Self.pageRows.lowerBound
      while true {
        var parameters = Parameters()
        parameters.add(Int64(count))
        if let next { table.add(next, to: &parameters) }
        let condition = next == nil ? "true" : "r.\(table.reference) \(isIncluded ? ">=" : ">") $2"
        let answer = try connection.run(
          "\(table.selection(where: condition)) ORDER BY r.\(table.reference) LIMIT $1", parameters)
        let rows = try (0..<answer.count).map { try table.row(in: answer, $0) }
        guard !rows.isEmpty, try body(rows), rows.count == count else { return }
        (next, isIncluded) = (rows.last?.reference, false)
        let bytes = rows.reduce(0) { $0 + $1.bytes.count }
        count = min(max(Self.pageBytes / max(1, bytes / count), Self.pageRows.lowerBound), Self.pageRows.upperBound)
      }
    }
  }
#endif

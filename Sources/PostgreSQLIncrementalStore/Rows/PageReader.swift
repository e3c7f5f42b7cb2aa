#if PostgreSQL
  import IncrementalStore

  /// Reads the rows of a table by pages, so that other reads can take place between them.
  struct PageReader {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Calls `body` with each page of rows in the order of the references, until it returns false.
    func forEachPage(
      of table: RowTable, from first: RowReference?, _ body: ([StoredRow]) throws -> Bool
    ) throws {
      var next = first
      var isIncluded = true
      var size = PageSize()
      while true {
        var parameters = Parameters()
        parameters.add(Int64(size.rows))
        if let next { table.add(next, to: &parameters) }
        let condition = next == nil ? "true" : "r.\(table.reference) \(isIncluded ? ">=" : ">") $2"
        let answer = try connection.run(
          "\(table.selection(where: condition)) ORDER BY r.\(table.reference) LIMIT $1", parameters)
        let rows = try (0..<answer.count).map { try table.row(in: answer, $0) }
        guard !rows.isEmpty, try body(rows), rows.count == size.rows else { return }
        (next, isIncluded) = (rows.last?.reference, false)
        size.adapt(toBytes: rows.reduce(0) { $0 + $1.bytes.count })
      }
    }
  }

  /// How many rows the next page has.
  struct PageSize {
    /// About how many bytes a page of rows has.
    private static let bytes = 1 << 20
    private static let range = 16...4096

    /// Most requests find few rows, or many.
    private(set) var rows = 64

    /// - Parameter bytes: How many bytes the rows of the last page have.
    mutating func adapt(toBytes bytes: Int) {
      rows = min(max(Self.bytes / max(1, bytes / rows), Self.range.lowerBound), Self.range.upperBound)
    }
  }
#endif

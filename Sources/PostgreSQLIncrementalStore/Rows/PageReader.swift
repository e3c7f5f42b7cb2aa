#if PostgreSQL
  import IncrementalStore

  /// Reads the rows of a table by pages, so that other reads can take place between them.
  struct PageReader {
    private let run: (_ statement: String, Parameters) throws -> Answer

    init(_ run: @escaping (_ statement: String, Parameters) throws -> Answer) { self.run = run }

    init(_ connection: Connection) { run = { try connection.run($0, $1) } }

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
        let answer = try run(
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

    private(set) var rows: Int

    /// Most requests find few rows, or many.
    ///
    /// - Parameters:
    ///   - most: The most rows that can be found; nil if that is not known.
    ///   - size: How many bytes a row is likely to have; nil if that is not known.
    init(most: Int? = nil, size: Int? = nil) {
      let likely = most.flatMap { most in size.map { min(most + 1, Self.bytes / $0) } } ?? 0
      rows = min(max(likely, 64), Self.range.upperBound)
    }

    /// - Parameter bytes: How many bytes the rows of the last page have.
    mutating func adapt(toBytes bytes: Int) {
      rows = min(max(Self.bytes / max(1, bytes / rows), Self.range.lowerBound), Self.range.upperBound)
    }
  }
#endif

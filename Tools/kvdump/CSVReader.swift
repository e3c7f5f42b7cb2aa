import CairnInspection

/// Reads CSV (RFC 4180). An empty cell is nil, a pair of quotes is an empty string.
struct CSVReader {
  private var lines: LineReader
  /// The line on which the record returned last begins.
  private(set) var line = 0
  /// The number of cells of the first record; nil before that is read.
  private var columns: Int?

  init(_ lines: LineReader) { self.lines = lines }

  /// The cells of the next record; nil at the end. Empty lines are skipped, except in a table with one column, where an
  /// empty line is a record whose cell is nil.
  mutating func next() throws -> [String?]? {
    var rest: [UInt8]
    repeat {
      guard let line = try lines.next() else { return nil }
      rest = Array(line)
    } while columns != 1 && (rest.isEmpty || rest == [UInt8(ascii: "\r")])
    line = lines.number
    var cells: [String?] = []
    while true {
      let (cell, end) = rest.first == UInt8(ascii: "\"") ? try quoted(&rest) : plain(rest)
      guard let text = String(validating: cell, as: UTF8.self) else { throw lines.problem("a cell is not UTF-8") }
      cells.append(cell.isEmpty && rest.first != UInt8(ascii: "\"") ? nil : text)
      guard end < rest.count, rest[end] == UInt8(ascii: ",") else {
        guard rest[end...].allSatisfy({ $0 == UInt8(ascii: "\r") }) else {
          throw lines.problem("a cell continues after its closing quote")
        }
        columns = columns ?? cells.count
        return cells
      }
      rest.removeSubrange(...end)
    }
  }

  /// Reads a cell without quotes. A carriage return is part of the cell unless it ends the line.
  private func plain(_ rest: [UInt8]) -> (cell: [UInt8], end: Int) {
    let lineEnd = rest.last == UInt8(ascii: "\r") ? rest.count - 1 : rest.count
    let end = rest[..<lineEnd].firstIndex(of: UInt8(ascii: ",")) ?? lineEnd
    return (Array(rest[..<end]), end)
  }

  /// Reads a quoted cell, which may continue on the following lines.
  private mutating func quoted(_ rest: inout [UInt8]) throws -> (cell: [UInt8], end: Int) {
    var cell: [UInt8] = []
    var position = 1
    while true {
      while position < rest.count {
        let byte = rest[position]
        position += 1
        if byte == UInt8(ascii: "\"") {
          guard position < rest.count, rest[position] == byte else { return (cell, position) }
          position += 1
        }
        cell.append(byte)
      }
      guard let next = try lines.next() else { throw lines.problem("a quoted cell has no closing quote") }
      cell.append(UInt8(ascii: "\n"))
      rest = [UInt8(ascii: "\"")] + next
      position = 1
    }
  }
}

import RowFormat

/// Checks the history of a Core Data store: STORE-FORMAT.md, section 9.
enum HistoryCheck {
  static func run<Source: StructureSource>(of source: Source, _ report: (StructureFinding) -> Void) throws {
    let headPlace = StructureFinding.Place.row(.integer(4), table: 0)
    var head: HistoryHead?
    if let row = try source.row(.integer(4), in: 0) {
      do {
        head = try HistoryHead(row)
      } catch {
        return report(StructureFinding(kind: .head, place: headPlace, words: "the head of the history: \(error)"))
      }
    }
    var nextChange: UInt64 = 0
    try source.forEachRow(in: HistoryRecord.table) { reference, bytes in
      func find(_ words: String) {
        report(StructureFinding(kind: .row, place: .row(reference, table: HistoryRecord.table), words: words))
      }
      guard case .integer(let number) = reference, number > 0, UInt64(number) <= head?.last.number ?? 0 else {
        return find("a transaction has the number \(reference), and the last one \(head?.last.number ?? 0)")
      }
      do {
        let record = try HistoryRecord(bytes, withChanges: true)
        if UInt64(number) == head?.last.number, record.mark != head?.last.mark {
          find("the last transaction has another mark than the head of the history")
        }
        if record.firstChange < nextChange { find("its first change has the number of an earlier change") }
        nextChange = record.firstChange + UInt64(record.count)
        if nextChange > head?.changes ?? 0 { find("its changes have numbers that are not given out") }
        for case .deleted(let fields) in record.changes.map(\.kind) where !fields.isEmpty {
          var reader = try RowFormat.FieldReader(fields)
          while try reader.next() != nil {}
        }
      } catch {
        find("the transaction: \(error)")
      }
    }
  }
}

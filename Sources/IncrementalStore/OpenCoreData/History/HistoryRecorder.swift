import OpenCoreData

/// Adds the transaction of a save, or of a batch request, to the changes that it makes.
struct HistoryRecorder {
  private let store: RowIncrementalStore
  private let author: String?
  private let contextName: String?
  /// The position of the transaction; nil if none was recorded.
  private(set) var position: HistoryPosition?

  init(_ store: RowIncrementalStore, _ context: NSManagedObjectContext?) {
    self.init(store, author: context?.transactionAuthor, contextName: context?.name)
  }

  init(_ store: RowIncrementalStore, author: String?, contextName: String?) {
    self.store = store
    self.author = author
    self.contextName = contextName
  }

  /// Adds rows to changes that consist of rows and entries of these objects.
  mutating func record(_ objects: [SavedObject], in changes: inout RowChanges, _ snapshot: any RowSnapshot) throws {
    position = nil
    guard !objects.isEmpty else { return }
    let row = try snapshot.row(StoreHead.historyReference, in: StoreHead.table)
    guard store.recordsHistory || row != nil else { return }
    let before = try HistoryHead(row)
    var head = before
    if store.recordsHistory {
      let sets = try changedSets(changes, of: objects)
      let changed = try objects.map { HistoryRecord.Change($0.reference, try kind(of: $0, sets)) }
      let position = head.add(changes: changed.count)
      let record = HistoryRecord(
        mark: position.mark, origin: origin, firstChange: before.changes, changes: changed)
      changes.rows.append(
        RowChanges.Row(
          table: HistoryRecord.table, reference: .integer(Int64(position.number)), change: .put(record.bytes),
          revision: nil))
      self.position = position
    } else {
      head.interrupt()
    }
    guard head != before else { return }
    changes.rows.insert(
      RowChanges.Row(
        table: StoreHead.table, reference: StoreHead.historyReference, change: .put(head.bytes),
        revision: row?.revision), at: 0)
  }

  private var origin: HistoryRecord.Origin {
    HistoryRecord.Origin(
      time: Date().timeIntervalSinceReferenceDate, author: author, context: contextName, program: Self.program,
      process: "\(ProcessInfo.processInfo.processIdentifier)")
  }

  private static let program = Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName

  // MARK: Changes

  private func kind(of saved: SavedObject, _ sets: [RowReference: Set<UInt32>]) throws -> HistoryRecord.Change.Kind {
    guard let stored = saved.stored else { return .inserted }
    let members = sets[saved.reference.reference] ?? []
    if saved.keepsContents { return .updated(members.sorted()) }
    return try StoreFailure.reading("The row of \(store.access.name(saved.reference))") {
      guard let bytes = saved.bytes else { return .deleted(try preserved(stored.bytes, saved.map)) }
      return .updated(members.union(try Self.changedFields(stored.bytes, bytes)).sorted())
    }
  }

  /// The fields of a row that outlive its object, as a row; empty if there are none.
  private func preserved(_ bytes: [UInt8], _ map: EntityMap) throws -> [UInt8] {
    guard !map.preservedFields.isEmpty else { return [] }
    var kept = FieldWriter()
    var fields = try FieldReader(bytes)
    while let next = try fields.next() {
      if map.preservedFields.contains(next.number), next.field.type != .null {
        kept.copy(next.number, next.field, of: bytes)
      }
    }
    return kept.bytes
  }

  /// The numbers of the fields in which two rows differ, in ascending order.
  private static func changedFields(_ old: [UInt8], _ new: [UInt8]) throws -> [UInt32] {
    var changed: [UInt32] = []
    var (oldFields, newFields) = (try FieldReader(old), try FieldReader(new))
    var (one, other) = (try oldFields.next(), try newFields.next())
    while one != nil || other != nil {
      let (oldNumber, newNumber) = (one?.number ?? .max, other?.number ?? .max)
      if let left = one, let right = other, oldNumber == newNumber {
        if left.field.type != right.field.type || old[left.field.range] != new[right.field.range] {
          changed.append(oldNumber)
        }
      } else {
        changed.append(min(oldNumber, newNumber))
      }
      if oldNumber <= newNumber { one = try oldFields.next() }
      if newNumber <= oldNumber { other = try newFields.next() }
    }
    return changed
  }

  /// The to-many relationships that get or lose members, by their owners.
  private func changedSets(
    _ changes: RowChanges, of objects: [SavedObject]
  ) throws -> [RowReference: Set<UInt32>] {
    var numbers: Set<UInt32> = []
    var known: Set<UInt32> = []
    for object in objects where known.insert(object.map.number).inserted {
      for set in object.map.sets { numbers.insert(set.end.number) }
    }
    guard !numbers.isEmpty else { return [:] }
    var sets: [RowReference: Set<UInt32>] = [:]
    for entry in [changes.removals, changes.additions].joined() {
      var input = ByteInput(Array(entry))
      let number = try input.number()
      if numbers.contains(number) { sets[try input.reference(), default: []].insert(number) }
    }
    return sets
  }
}

#if PostgreSQL
  import IncrementalStore
  import RowFormat

  /// The objects that a save has changed, as the row of the save has them: STORE-FORMAT.md, section 11.
  struct SavedChanges {
    /// Saves of more objects do not say which.
    private static let most = 10_000
    private static let format: UInt8 = 1

    private(set) var inserted: [ObjectReference] = []
    private(set) var updated: [ObjectReference] = []
    private(set) var deleted: [ObjectReference] = []

    /// The bytes of the changes to objects; nil if there are too many.
    static func bytes(of changes: RowChanges, _ layout: Layout) -> [UInt8]? {
      let rows = changes.rows.filter { layout.tables[$0.table] != nil }
      guard rows.count <= most else { return nil }
      var output = ByteOutput()
      output.byte(format)
      for row in rows {
        let kind: UInt8 = row.change == .delete ? 2 : row.revision == nil ? 0 : 1
        output.byte(kind)
        output.object(ObjectReference(entity: row.table, reference: row.reference))
      }
      return output.bytes
    }

    init(_ bytes: [UInt8]) throws(RowDamage) {
      var input = ByteInput(bytes)
      guard try input.byte() == Self.format else { throw input.damage("the changes of a save have another format") }
      while !input.isAtEnd {
        let kind = try input.byte()
        let object = try input.object()
        switch kind {
        case 0: inserted.append(object)
        case 1: updated.append(object)
        case 2: deleted.append(object)
        default: throw input.damage("a change of an object has the unknown kind \(kind)")
        }
      }
    }
  }
#endif

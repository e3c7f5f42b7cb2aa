import RowFormat

/// The rows and packs of one unchanging state of a store, for ``StructureChecker``.
protocol StructureSource {
  /// The numbers of the tables that have rows, in order.
  var tables: [UInt32] { get }

  func contains(_ reference: RowReference, in table: UInt32) throws -> Bool

  /// The bytes of a row; nil if there is none.
  func row(_ reference: RowReference, in table: UInt32) throws -> [UInt8]?

  /// Calls `body` with each row of a table in the order of the references.
  func forEachRow(in table: UInt32, _ body: (_ reference: RowReference, _ bytes: [UInt8]) throws -> Void) throws

  /// Calls `body` with the touches of each row that was ever touched, its table, and the bytes stored with them.
  func forEachTouch(_ body: (_ reference: RowReference, _ table: UInt32, _ bytes: [UInt8]) throws -> Void) throws

  /// Calls `body` with each pack, beginning with the last one whose lower bound is not above `entry`, until `body`
  /// returns false.
  func forEachPack(from entry: [UInt8], _ body: (_ bound: [UInt8], _ bytes: [UInt8]) throws -> Bool) throws
}

/// Something that ``StructureChecker`` has found.
struct StructureFinding: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// Metadata, schema, or numbers given out.
    case head
    case row
    case pack
    case entry
    /// A reference to an object that does not exist, which a delete rule may have left behind.
    case leadsNowhere
  }

  enum Place: Hashable, Sendable {
    case table(UInt32)
    case row(RowReference, table: UInt32)
    /// The touches of a row.
    case touches(RowReference, table: UInt32)
    /// The pack with that lower bound.
    case pack([UInt8])
  }

  let kind: Kind
  let place: Place
  let words: String

  var isDamage: Bool { kind != .leadsNowhere }
}

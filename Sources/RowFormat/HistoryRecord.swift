/// A row of the history: a transaction, which is one save or batch request. STORE-FORMAT.md, section 9.
package struct HistoryRecord: Hashable, Sendable {
  private static let format: UInt8 = 1

  /// The table of the history. No entity has its number.
  package static let table = UInt32.max

  /// Who saved, and when.
  package struct Origin: Hashable, Sendable {
    /// In seconds since the beginning of 2001.
    package var time: Double
    package var author: String?
    package var context: String?
    /// The identifier of the program's bundle, or the program's name.
    package var program: String
    package var process: String

    package init(time: Double, author: String?, context: String?, program: String, process: String) {
      self.time = time
      self.author = author
      self.context = context
      self.program = program
      self.process = process
    }
  }

  /// What happened to an object.
  package struct Change: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
      case inserted
      /// With the numbers of the changed properties, in ascending order.
      case updated([UInt32])
      /// With the fields of the row that are kept, as a row; empty for none.
      case deleted([UInt8])
    }

    package let object: ObjectReference
    package let kind: Kind

    package init(_ object: ObjectReference, _ kind: Kind) { (self.object, self.kind) = (object, kind) }
  }

  /// The mark of the transaction's position.
  package let mark: UInt64
  package let origin: Origin
  /// The number of the first change among those of all transactions.
  package let firstChange: UInt64
  /// How many changes there are.
  package let count: Int
  /// The changes; empty if only the rest was read.
  package let changes: [Change]

  /// - Parameter changes: The changes, those of an entity one after another.
  package init(mark: UInt64, origin: Origin, firstChange: UInt64, changes: [Change]) {
    self.mark = mark
    self.origin = origin
    self.firstChange = firstChange
    self.changes = changes
    count = changes.count
  }

  package init(_ bytes: [UInt8], withChanges: Bool) throws(RowDamage) {
    var input = ByteInput(bytes)
    guard try input.byte() == Self.format else { throw RowDamage("it does not begin with \(Self.format)", at: 0) }
    mark = try input.fixed(UInt64.self)
    let time = Double(bitPattern: try input.fixed(UInt64.self))
    let author = try input.optionalText()
    let context = try input.optionalText()
    origin = Origin(
      time: time, author: author, context: context, program: try input.text(), process: try input.text())
    firstChange = try input.varint()
    count = try input.count()
    guard firstChange <= UInt64(Int64.max) - UInt64(count) else { throw input.damage("a number is too large") }
    var changes: [Change] = []
    if withChanges {
      changes.reserveCapacity(count)
      while !input.isAtEnd { try input.changes(to: &changes) }
      guard changes.count == count else { throw input.damage("it has \(changes.count) changes, not \(count)") }
    }
    self.changes = changes
  }

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(Self.format)
    output.fixed(mark)
    output.fixed(origin.time.bitPattern)
    output.optionalText(origin.author)
    output.optionalText(origin.context)
    output.text(origin.program)
    output.text(origin.process)
    output.varint(firstChange)
    output.varint(changes.count)
    var rest = changes[...]
    while let entity = rest.first?.object.entity {
      let end = rest.firstIndex { $0.object.entity != entity } ?? rest.endIndex
      output.varint(entity)
      output.varint(end - rest.startIndex)
      for change in rest[..<end] { output.change(change) }
      rest = rest[end...]
    }
    return output.bytes
  }
}

extension ByteOutput {
  fileprivate mutating func change(_ change: HistoryRecord.Change) {
    reference(change.object.reference)
    switch change.kind {
    case .inserted: byte(0)
    case .updated(let properties):
      byte(1)
      varint(properties.count)
      var last: UInt32 = 0
      for property in properties {
        varint(property - last)
        last = property
      }
    case .deleted(let fields):
      byte(2)
      counted(fields)
    }
  }
}

extension ByteInput {
  /// Reads the changes of one entity.
  fileprivate mutating func changes(to changes: inout [HistoryRecord.Change]) throws(RowDamage) {
    let entity = try number()
    for _ in 0..<(try count()) {
      let object = ObjectReference(entity: entity, reference: try reference())
      changes.append(HistoryRecord.Change(object, try kind()))
    }
  }

  private mutating func kind() throws(RowDamage) -> HistoryRecord.Change.Kind {
    switch try byte() {
    case 0: return .inserted
    case 1:
      var properties: [UInt32] = []
      for _ in 0..<(try count()) {
        let (property, overflow) = (properties.last ?? 0).addingReportingOverflow(try number())
        guard !overflow, property > properties.last ?? 0 else {
          throw damage("the numbers of properties do not ascend")
        }
        properties.append(property)
      }
      return .updated(properties)
    case 2: return .deleted(Array(bytes[try counted()]))
    default: throw damage("a change is of an unknown kind")
    }
  }
}

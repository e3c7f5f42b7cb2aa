/// What identifies an object within its table.
///
/// References of one kind have an order: numbers by value, strings by their UTF-8, UUIDs by their bytes.
public enum RowReference: Hashable, Sendable {
  /// A whole number.
  case integer(Int64)
  /// A text.
  case string(String)
  /// A UUID as a number, its first byte the most significant.
  case uuid(UInt128)
}

extension RowReference: Comparable {
  /// Numbers come before strings, strings before UUIDs.
  public static func < (left: RowReference, right: RowReference) -> Bool {
    switch (left, right) {
    case (.integer(let left), .integer(let right)): left < right
    case (.string(let left), .string(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
    case (.uuid(let left), .uuid(let right)): left < right
    case (.integer, _), (.string, .uuid): true
    default: false
    }
  }
}

extension RowReference: CustomStringConvertible {
  /// As in the URI of an object.
  public var description: String {
    switch self {
    case .integer(let number): "\(number)"
    case .string(let text): text
    case .uuid(let uuid): Self.canonical(uuid)
    }
  }

  private static func canonical(_ uuid: UInt128) -> String {
    let digits = String(uuid, radix: 16, uppercase: true)
    var rest = Substring(String(repeating: "0", count: 32 - digits.count) + digits)
    return [8, 4, 4, 4, 12].map { length in
      defer { rest = rest.dropFirst(length) }
      return String(rest.prefix(length))
    }.joined(separator: "-")
  }
}

extension ByteOutput {
  /// Writes an encoding that sorts, compared byte by byte, like the references.
  package mutating func reference(_ reference: RowReference) {
    switch reference {
    case .integer(let number):
      let magnitude = UInt64(bitPattern: number < 0 ? ~number : number)
      let count = max((64 - magnitude.leadingZeroBitCount + 7) / 8, number < 0 ? 1 : 0)
      byte(number < 0 ? 0x20 - UInt8(count) : 0x20 + UInt8(count))
      for place in (0..<count).reversed() {
        let bits = UInt8(truncatingIfNeeded: magnitude >> UInt64(8 * place))
        byte(number < 0 ? ~bits : bits)
      }
    case .string(let text):
      byte(0x30)
      for unit in text.utf8 {
        byte(unit)
        if unit == 0 { byte(0xFF) }
      }
      append([0, 0])
    case .uuid(let uuid):
      byte(0x40)
      for place in (0..<16).reversed() { byte(UInt8(truncatingIfNeeded: uuid >> UInt128(8 * place))) }
    }
  }

  /// Writes an object: the number of its entity, then its reference.
  package mutating func object(_ object: ObjectReference) {
    varint(object.entity)
    reference(object.reference)
  }
}

extension ByteInput {
  package mutating func reference() throws(RowDamage) -> RowReference {
    let kind = try byte()
    switch kind {
    case 0x20...0x28: return .integer(try bigEndian(Int(kind) - 0x20, inverted: false))
    case 0x18...0x1F: return .integer(~(try bigEndian(0x20 - Int(kind), inverted: true)))
    case 0x30: return .string(try terminated())
    case 0x40:
      var uuid: UInt128 = 0
      for place in try range(of: 16) { uuid = uuid << 8 | UInt128(bytes[place]) }
      return .uuid(uuid)
    default: throw damage("a reference begins with 0x\(String(kind, radix: 16))")
    }
  }

  package mutating func object() throws(RowDamage) -> ObjectReference {
    ObjectReference(entity: try number(), reference: try reference())
  }

  private mutating func bigEndian(_ count: Int, inverted: Bool) throws(RowDamage) -> Int64 {
    var value: UInt64 = 0
    for place in try range(of: count) { value = value << 8 | UInt64(inverted ? ~bytes[place] : bytes[place]) }
    guard let number = Int64(exactly: value) else { throw damage("a reference has more than 63 bits") }
    return number
  }

  private mutating func terminated() throws(RowDamage) -> String {
    var content: [UInt8] = []
    while true {
      let unit = try byte()
      if unit == 0 {
        switch try byte() {
        case 0:
          guard let text = String(validating: content, as: UTF8.self) else { throw damage("a reference is not UTF-8") }
          return text
        case 0xFF: break
        default: throw damage("a zero in a reference is followed by neither 0x00 nor 0xFF")
        }
      }
      content.append(unit)
    }
  }
}

/// Identifies an object of a store by the number of its entity, which is also the number of its table, and its
/// reference.
public struct ObjectReference: Hashable, Sendable {
  /// The number that the schema gives the entity.
  public let entity: UInt32
  /// What identifies the object in its table.
  public let reference: RowReference

  /// Creates the reference to an object.
  public init(entity: UInt32, reference: RowReference) {
    self.entity = entity
    self.reference = reference
  }
}

extension ObjectReference: Comparable {
  /// By entity, then by reference.
  public static func < (left: ObjectReference, right: ObjectReference) -> Bool {
    (left.entity, left.reference) < (right.entity, right.reference)
  }
}

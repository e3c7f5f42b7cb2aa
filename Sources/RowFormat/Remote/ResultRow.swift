import Hashing

/// What is known of a list at a remote service: a row of the table of results, under a digest of its key.
/// STORE-FORMAT.md, section 10.
package struct ResultRow: Hashable, Sendable {
  private static let format: UInt8 = 1
  /// The format of a list of which the service says how long it stays fresh.
  private static let freshFormat: UInt8 = 2

  /// The table of the results and their pages. No entity has its number.
  package static let table = UInt32.max - 2

  /// What tells the list from others.
  package let key: String
  package let entity: UInt32
  /// How often the list has been read from its beginning.
  package var generation: UInt64 = 0
  /// How many pages of this generation are stored.
  package var pages: UInt64 = 0
  /// How many pages of the generation before are stored; they are kept until this one is complete.
  package var formerPages: UInt64 = 0
  /// Whether this generation has all pages.
  package var isComplete = false
  /// When this generation was begun, in seconds since the beginning of 2001.
  package var begunAt: Double = 0
  /// When the list was last known to be complete, or as far as it was needed; 0 if never.
  package var readAt: Double = 0
  /// The version of the list at the service; nil if it is not known.
  package var tag: String?
  /// Where to go on; nil for the beginning.
  package var cursor: String?
  /// For how many seconds after it was read the list stays fresh, as the service says; nil if it does not.
  package var freshFor: Double?

  package init(key: String, entity: UInt32) { (self.key, self.entity) = (key, entity) }

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    var input = ByteInput(bytes)
    let format = try input.byte()
    guard format == Self.format || format == Self.freshFormat else {
      throw RowDamage("it begins neither with \(Self.format) nor with \(Self.freshFormat)", at: 0)
    }
    key = try input.text()
    entity = try input.number()
    generation = try input.varint()
    pages = try input.varint()
    formerPages = try input.varint()
    isComplete = try input.flag()
    begunAt = Double(bitPattern: try input.fixed(UInt64.self))
    readAt = Double(bitPattern: try input.fixed(UInt64.self))
    tag = try input.optionalText()
    cursor = try input.optionalText()
    guard max(pages, formerPages) < 100_000_000, generation < UInt64(Int64.max) else {
      throw input.damage("a number is too large")
    }
    if format == Self.freshFormat {
      let seconds = Double(bitPattern: try input.fixed(UInt64.self))
      guard seconds >= 0, seconds.isFinite else { throw input.damage("a list is fresh for \(seconds) seconds") }
      freshFor = seconds
    }
    try input.requireEnd()
  }

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(freshFor == nil ? Self.format : Self.freshFormat)
    output.text(key)
    output.varint(entity)
    output.varint(generation)
    output.varint(pages)
    output.varint(formerPages)
    output.byte(isComplete ? 1 : 0)
    output.fixed(begunAt.bitPattern)
    output.fixed(readAt.bitPattern)
    output.optionalText(tag)
    output.optionalText(cursor)
    if let freshFor { output.fixed(freshFor.bitPattern) }
    return output.bytes
  }

  /// The reference of the row: the first 16 bytes of the SHA-256 of the key, in hexadecimal digits.
  package static func reference(of key: String) -> RowReference { .string(digest(key)) }

  private static func digest(_ key: String) -> String {
    var hash = SHA256()
    hash.update(key.utf8)
    return hash.finish().prefix(16).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }

  /// The reference of a page, counted from 0.
  package static func reference(of page: UInt64, _ generation: UInt64, of key: String) -> RowReference {
    let digits = String(page)
    return .string("\(digest(key))/\(generation)/\(String(repeating: "0", count: max(0, 8 - digits.count)))\(digits)")
  }
}

/// A page of a list: the objects on it, in their order.
package struct ResultPage: Hashable, Sendable {
  private static let format: UInt8 = 1

  package let objects: [ObjectReference]

  package init(_ objects: [ObjectReference]) { self.objects = objects }

  package init(_ bytes: [UInt8]) throws(RowDamage) {
    var input = ByteInput(bytes)
    guard try input.byte() == Self.format else { throw RowDamage("it does not begin with \(Self.format)", at: 0) }
    var objects: [ObjectReference] = []
    for _ in 0..<(try input.count()) { objects.append(try input.object()) }
    self.objects = objects
    try input.requireEnd()
  }

  package var bytes: [UInt8] {
    var output = ByteOutput()
    output.byte(Self.format)
    output.varint(objects.count)
    for object in objects { output.object(object) }
    return output.bytes
  }
}

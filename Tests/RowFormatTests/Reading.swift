import RowFormat

/// The kinds of bytes that are read; each is read to its end.
enum Reading: CaseIterable, Sendable {
  case schema
  case row
  case pack
  case member
  case position
  case numbers
  case metadata
  case origin
  case change
  case result
  case page

  var sample: [UInt8] {
    switch self {
    case .schema: Samples.schema.bytes
    case .row: Samples.row
    case .pack: Samples.pack
    case .member: Entry.member(ObjectReference(entity: 10, reference: .string("a\0ö")), of: .integer(7), 3)
    case .position: Entry.member(ObjectReference(entity: 10, reference: .uuid(9)), of: .uuid(7), 4, position: .min)
    case .numbers: Samples.numbers
    case .metadata: Samples.metadata
    case .origin: Samples.origin
    case .change: Samples.change
    case .result: Samples.result
    case .page: ResultPage([.person(1), .dog(3)]).bytes
    }
  }

  func read(_ bytes: [UInt8]) throws(RowDamage) {
    switch self {
    case .schema: _ = try Schema(bytes)
    case .row: try readRow(bytes)
    case .pack: _ = try Pack.entries(bytes)
    case .member: _ = try Entry.member(in: bytes, after: Entry.members(of: .integer(7), 3).count, isOrdered: false)
    case .position: _ = try Entry.member(in: bytes, after: Entry.members(of: .uuid(7), 4).count, isOrdered: true)
    case .numbers: _ = try NumbersGivenOut(bytes)
    case .metadata: try BinaryPropertyList.check(bytes)
    case .origin: _ = try OriginRow(bytes)
    case .change: _ = try OutboxRow(bytes)
    case .result: _ = try ResultRow(bytes)
    case .page: _ = try ResultPage(bytes)
    }
  }

  private func readRow(_ bytes: [UInt8]) throws(RowDamage) {
    var fields = try FieldReader(bytes)
    while let (_, field) = try fields.next() {
      switch field.type {
      case .null, .falsity, .truth, .data, .uuid, .composite: break
      case .integer: _ = try field.integer(in: bytes)
      case .double, .date: _ = try field.double(in: bytes)
      case .float: _ = try field.float(in: bytes)
      case .string, .decimal, .uri, .identifier: _ = try field.text(in: bytes)
      case .object: _ = try field.object(in: bytes)
      case .transformed: _ = try field.transformed(in: bytes)
      }
    }
  }
}

/// A random number generator with a seed, so that a failure can be repeated.
struct SeededGenerator: RandomNumberGenerator {
  let seed: UInt64
  private var state: UInt64

  init(_ seed: UInt64 = .random(in: .min ... .max)) {
    self.seed = seed
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

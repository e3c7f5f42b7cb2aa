import RowFormat
import Testing

@Suite("Unchecked bytes")
struct HostileBytesTests {
  @Test("Random bytes are read or refused.", arguments: Reading.allCases)
  func random(_ reading: Reading) {
    var random = SeededGenerator()
    for _ in 0..<20_000 {
      var bytes = (0..<Int.random(in: 0..<60, using: &random)).map { _ in
        UInt8.random(in: .min ... .max, using: &random)
      }
      if !bytes.isEmpty, Bool.random(using: &random) { bytes[0] = 1 }
      checkPlace(reading, bytes, "seed \(random.seed)")
    }
  }

  @Test("Truncated bytes are refused, but a row may end after any field.", arguments: Reading.allCases)
  func truncated(_ reading: Reading) throws {
    let sample = reading.sample
    try reading.read(sample)
    for end in sample.indices {
      let isRefused = checkPlace(reading, Array(sample[..<end]), "\(end) bytes")
      if reading != .row { #expect(isRefused, "\(end) of \(sample.count) bytes") }
    }
  }

  @Test("Bytes with one wrong bit are read or refused.", arguments: Reading.allCases)
  func flipped(_ reading: Reading) {
    let sample = reading.sample
    for bit in 0..<sample.count * 8 {
      var bytes = sample
      bytes[bit / 8] ^= 1 << (bit % 8)
      checkPlace(reading, bytes, "bit \(bit)")
    }
  }

  /// A row, and rows that are damaged or random.
  private func rows(_ sample: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
    var rows = [sample] + sample.indices.map { Array(sample[..<$0]) }
    rows += (0..<sample.count * 8).map { bit in
      var bytes = sample
      bytes[bit / 8] ^= 1 << (bit % 8)
      return bytes
    }
    for length in 0..<1000 {
      rows.append([1] + (0..<length % 40).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }
    return rows
  }

  @Test("The fields of a row that meets rules have these types, and their values can be read.")
  func rules() throws {
    let types: [FieldType] = [
      .falsity, .truth, .integer, .double, .float, .string, .data, .date, .uuid, .object, .string, .integer,
    ]
    var writer = FieldWriter()
    for (place, type) in types.enumerated() {
      let number = UInt32(place * 3 + 1)
      switch type {
      case .integer: writer.integer(place == 2 ? -123_456 : 1 << 61, number)
      case .double, .date: writer.fixed(type, 1.5.bitPattern, number)
      case .string: writer.text(place == 5 ? "text ö" : "a text of ASCII", number)
      case .object: writer.object(ObjectReference(entity: 300, reference: .integer(-70_000)), number)
      default:
        writer.begin(number, type)
        writer.withOutput { output in
          switch type {
          case .float: output.fixed((2.5 as Float).bitPattern)
          case .data: output.counted([1, 2, 3])
          case .uuid: output.append([UInt8](repeating: 7, count: 16))
          default: break
          }
        }
      }
    }
    let rules = types.enumerated().map { FieldRule(UInt32($0 * 3 + 1), [$1], entity: 300) }
    #expect(FieldReader.meets(rules, writer.bytes))
    #expect(FieldReader.meets([], writer.bytes))
    #expect(!FieldReader.meets([FieldRule(7, [.double])], writer.bytes))
    #expect(!FieldReader.meets([FieldRule(28, [.object], entity: 301)], writer.bytes))
    var random = SeededGenerator()
    var met = 0
    for row in rows(writer.bytes, &random) where FieldReader.meets(rules, row) {
      met += 1
      let damage = found(in: row) {
        var fields = try FieldReader(row)
        while let (number, field) = try fields.next() {
          guard number % 3 == 1, number < types.count * 3 else { continue }
          let type = types[Int(number / 3)]
          #expect(field.type == type || field.type == .null, "seed \(random.seed): \(row)")
          switch field.type {
          case .integer: _ = try field.integer(in: row)
          case .double, .date: _ = try field.double(in: row)
          case .float: _ = try field.float(in: row)
          case .string: _ = try field.text(in: row)
          case .uuid: #expect(field.range.count == 16)
          case .object: #expect(try field.object(in: row)?.entity == 300)
          default: break
          }
        }
        return nil
      }
      #expect(damage == "none", "seed \(random.seed): \(row)")
    }
    #expect(met > 100)
  }

  @Test("A field is found, or damage is reported, as by reading the fields one by one.")
  func fieldsByNumber() {
    var random = SeededGenerator()
    for row in rows(Samples.row, &random) {
      for number in [0, 1, 2, 9, 10, 19, 28, 37, 46, 55, 100, 109, 118, 136, 137, 500, .max] as [UInt32] {
        let expected = found(in: row) {
          var fields = try FieldReader(row)
          while let next = try fields.next(), next.number <= number {
            if next.number == number { return next.field }
          }
          return nil
        }
        let copied = found(in: row) { try FieldReader.field(number, of: row) }
        let inPlace = unsafe row.withUnsafeBytes { unsafe foundInPlace($0.bytes, number) }
        #expect(
          copied == expected && inPlace == expected,
          "seed \(random.seed): \(number) in \(row): \(expected), \(copied), \(inPlace)")
      }
    }
  }

  /// A field and its value, or the damage, in words.
  private func found(in row: [UInt8], _ find: () throws -> Field?) -> String {
    do {
      guard let field = try find() else { return "none" }
      let value =
        switch field.type {
        case .integer: "\(try field.integer(in: row))"
        case .double, .date: "\(try field.double(in: row).bitPattern)"
        case .float: "\(try field.float(in: row).bitPattern)"
        case .object: "\(try field.object(in: row).map { "\($0)" } ?? "none")"
        default: ""
        }
      return "\(field.type) \(field.range) \(value)"
    } catch {
      return "damage"
    }
  }

  private func foundInPlace(_ row: RawSpan, _ number: UInt32) -> String {
    do {
      guard let field = try FieldReader.field(number, of: row) else { return "none" }
      let value =
        switch field.type {
        case .integer: "\(try field.integer(in: row))"
        case .double, .date: "\(field.double(in: row).bitPattern)"
        case .float: "\(field.float(in: row).bitPattern)"
        case .object: "\(try field.object(in: row).map { "\($0)" } ?? "none")"
        default: ""
        }
      return "\(field.type) \(field.range) \(value)"
    } catch {
      return "damage"
    }
  }

  @Test("Bytes that continue after their end are refused.", arguments: Reading.allCases)
  func longer(_ reading: Reading) {
    #expect(throws: RowDamage.self) { try reading.read(reading.sample + [0]) }
  }

  @Test("A count or length that is too high is refused at once.", arguments: [7, 14, 35, 63] as [UInt64])
  func hugeCounts(_ bits: UInt64) {
    var count = ByteOutput()
    count.varint(UInt64(1) << bits)
    let bytes = count.bytes
    #expect(throws: RowDamage.self) { try Pack.entries([1] + bytes) }
    #expect(throws: RowDamage.self) { try Pack.entries([1, 1, 0] + bytes) }
    #expect(throws: RowDamage.self) { try Pack.entries([1, 1] + bytes + [1, 0]) }
    #expect(throws: RowDamage.self) { try Schema([1, 5] + bytes) }
    #expect(throws: RowDamage.self) { try Schema([1, 5, 1, 1] + bytes) }
    #expect(throws: RowDamage.self) { try Schema([1] + bytes + [1, 0]) }
    for type in [6, 7, 10, 11, 12, 13, 14, 15] as [UInt8] {
      #expect(throws: RowDamage.self) { try Reading.row.read([1, 16 | type] + bytes) }
    }
  }

  @Test("A number of more than 64 bits is refused.")
  func longNumbers() {
    let long = [UInt8](repeating: 0xFF, count: 9)
    #expect(throws: RowDamage("a number has more than 64 bits", at: 12)) {
      try Reading.row.read([1, 0x13] + long + [2])
    }
    #expect(throws: RowDamage.self) { try Reading.row.read([1, 0x13] + long + [0xFF, 0]) }
    #expect(throws: RowDamage.self) { try Pack.entries([1] + long + [2]) }
  }

  @Test("A text that is not UTF-8 is refused.")
  func notUTF8() {
    #expect(throws: RowDamage("a text is not UTF-8", at: 3)) { try Reading.row.read([1, 0x16, 1, 0xFF]) }
    #expect(throws: RowDamage.self) { try Schema([1, 2, 1, 1, 1, 0xC0, 0, 0, 0, 0]) }
    #expect(throws: RowDamage.self) { try Reading.row.read([1, 0x1C, 5, 1, 0x30, 0xFF, 0, 0]) }
  }

  @Test("A transformable value with any wrong bit is refused, so that no transformer gets it.")
  func transformedValues() throws {
    var row = FieldWriter()
    row.begin(1, .transformed)
    row.withOutput { $0.transformed([1, 2, 3]) }
    #expect(throws: Never.self) { try Reading.row.read(row.bytes) }
    for bit in 3 * 8..<row.bytes.count * 8 {
      var bytes = row.bytes
      bytes[bit / 8] ^= 1 << (bit % 8)
      #expect(throws: RowDamage("a transformable value has a wrong checksum", at: 3)) { try Reading.row.read(bytes) }
    }
    #expect(throws: RowDamage("it ends too early", at: 3)) { try Reading.row.read([1, 0x1D, 3, 0, 0, 0]) }
  }

  @Test("Numbers of properties that do not rise are refused.")
  func numbersThatDoNotRise() {
    #expect(throws: RowDamage("the numbers of properties do not ascend", at: 2)) { try Reading.row.read([1, 0x00]) }
    #expect(throws: RowDamage("the numbers of properties do not ascend", at: 3)) {
      try Reading.row.read([1, 0x10, 0x00])
    }
    #expect(throws: RowDamage.self) { try Reading.row.read([1, 0xF0, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]) }
  }

  @Test("A pack whose entries do not rise is refused.")
  func entriesThatDoNotRise() {
    #expect(throws: RowDamage.self) { try Pack.entries([1, 2, 0, 1, 5, 0, 1, 4]) }
    #expect(throws: RowDamage.self) { try Pack.entries([1, 2, 0, 1, 5, 1, 0]) }
    #expect(throws: RowDamage.self) { try Pack.entries([1, 2, 0, 1, 5, 2, 1, 1]) }
  }

  @Test("A pack that would expand to much memory is refused.")
  func packsThatGrow() {
    var output = ByteOutput()
    output.append([1])
    output.varint(10_000)
    output.append([0])
    output.counted([UInt8](repeating: 1, count: 10_000))
    for count in 10_000..<19_999 {
      output.varint(count)
      output.counted([0])
    }
    #expect(throws: RowDamage.self) { try Pack.entries(output.bytes) }
    let long = EntryList([[UInt8](repeating: 1, count: 1 << 20)])
    #expect(throws: Never.self) { try Pack.entries(Pack.bytes(long[...])) }
  }

  /// Returns whether the bytes are refused. Expects the error's position to be within the bytes or at their end.
  @discardableResult
  private func checkPlace(_ reading: Reading, _ bytes: [UInt8], _ what: String) -> Bool {
    do {
      try reading.read(bytes)
      return false
    } catch {
      #expect((0...bytes.count).contains(error.position), "\(what): \(bytes): \(error)")
      return true
    }
  }
}

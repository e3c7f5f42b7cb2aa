import RowFormat
import Testing

@Suite struct RemoteRowTests {
  @Test("What is known of a remote service is read as it was written, and cut rows are refused.") func rows() throws {
    var head = RemoteHead(account: "ann")
    head.cursor = "7"
    try check(head.bytes) { try RemoteHead($0).bytes }
    var origin = OriginRow(entity: 3)
    (origin.identifier, origin.tag, origin.readAt) = ("17", "w", 2.5)
    (origin.knownSets, origin.changes) = ([4, 9], [1, 2])
    try check(origin.bytes) { try OriginRow($0).bytes }
    var result = ResultRow(key: "Bug bugs", entity: 3)
    (result.pages, result.generation, result.cursor) = (2, 1, "c")
    (result.begunAt, result.readAt) = (2.5, 3.5)
    try check(result.bytes) { try ResultRow($0).bytes }
    #expect(try ResultRow(result.bytes).freshFor == nil)
    result.freshFor = 60
    try check(result.bytes) { try ResultRow($0).bytes }
    #expect(try ResultRow(result.bytes) == result)
    for seconds in [-1, .infinity, .nan] {
      result.freshFor = seconds
      #expect(throws: RowDamage.self) { try ResultRow(result.bytes) }
    }
    let object = ObjectReference(entity: 3, reference: .integer(8))
    try check(ResultPage([object]).bytes) { try ResultPage($0).bytes }
    var change = OutboxRow(.update, object, key: 5, base: [1], values: [1])
    change.members = [OutboxRow.Members(relationship: 4, added: [object], removed: [])]
    (change.state, change.refusal) = (.refused, "no")
    try check(change.bytes) { try OutboxRow($0).bytes }
  }

  @Test("The key of a change is a random UUID for the service.") func uuid() {
    func uuid(_ key: UInt128) -> UInt128 {
      OutboxRow(.delete, ObjectReference(entity: 3, reference: .integer(8)), key: key, base: [1], values: [1]).uuid
    }
    #expect(uuid(0) == 0x0000_0000_0000_4000_8000_0000_0000_0000)
    #expect(uuid(.max) == 0xFFFF_FFFF_FFFF_4FFF_BFFF_FFFF_FFFF_FFFF)
    let valid: UInt128 = 0x0123_4567_89AB_4DEF_A123_4567_89AB_CDEF
    #expect(uuid(valid) == valid)
  }

  private func check(_ bytes: [UInt8], _ again: ([UInt8]) throws -> [UInt8]) throws {
    #expect(try again(bytes) == bytes)
    for length in bytes.indices { #expect(throws: RowDamage.self) { try again(Array(bytes[..<length])) } }
    #expect(throws: RowDamage.self) { try again(bytes + [0]) }
  }
}

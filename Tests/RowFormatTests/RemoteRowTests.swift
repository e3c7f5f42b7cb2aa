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
    try check(result.bytes) { try ResultRow($0).bytes }
    let object = ObjectReference(entity: 3, reference: .integer(8))
    try check(ResultPage([object]).bytes) { try ResultPage($0).bytes }
    var change = OutboxRow(.update, object, key: 5, base: [1], values: [1])
    change.members = [OutboxRow.Members(relationship: 4, added: [object], removed: [])]
    (change.state, change.refusal) = (.refused, "no")
    try check(change.bytes) { try OutboxRow($0).bytes }
  }

  private func check(_ bytes: [UInt8], _ again: ([UInt8]) throws -> [UInt8]) throws {
    #expect(try again(bytes) == bytes)
    for length in bytes.indices { #expect(throws: RowDamage.self) { try again(Array(bytes[..<length])) } }
    #expect(throws: RowDamage.self) { try again(bytes + [0]) }
  }
}

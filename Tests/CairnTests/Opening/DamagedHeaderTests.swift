import CairnSimulation
import Testing

@testable import Cairn

/// Damage to the header of the newest segment: the segment is torn if nothing after the header was durable, otherwise
/// it is damaged.
@Suite struct DamagedHeaderTests {
  private func files(commits: Int) throws -> Fixtures.Files {
    let machine = try FixtureMachine(random: [1, 2, 3])
    let store = try machine.open()
    let keyspace = try store.keyspace("k")
    for number in 1...commits { try store.put([UInt8(number)], at: .integer(Int64(number)), in: keyspace) }
    try store.close()
    return machine.files()
  }

  private func open(_ files: Fixtures.Files) throws -> Store {
    let machine = try FixtureMachine(random: [4, 5, 6])
    try machine.layer.createDirectory("/machine/store")
    for (name, bytes) in files { try machine.layer.open("/machine/store/\(name)", .create).writeAll(bytes, at: 0) }
    return try machine.open()
  }

  @Test("G17: A damaged header does not make durable commits disappear.", arguments: [0, 40, 70, 127])
  func isRefused(_ offset: Int) throws {
    var files = try files(commits: 3)
    files["0000000001.segment"]?[offset] ^= 1
    let error = #expect(throws: StoreError.self) { try open(files) }
    #expect(error?.code == .corrupted)
  }

  @Test("A segment with zeros in place of its header is not taken for an unused one.")
  func zerosInPlaceOfTheHeaderAreNoUnusedSegment() throws {
    var files = try files(commits: 3)
    files["0000000001.segment"]?.replaceSubrange(0..<128, with: repeatElement(0, count: 128))
    let error = #expect(throws: StoreError.self) { try open(files) }
    #expect(error?.code == .corrupted)
  }

  @Test("A header that was torn with the first commit ends the log.")
  func aHeaderTornWithTheFirstCommitEndsTheLog() throws {
    var files = try files(commits: 1)
    files["0000000001.segment"]?[40] ^= 1
    let store = try open(files)
    defer { try? store.close() }
    #expect(store.statistics.rows == 0)
    #expect(store.recovery.discardedBytes > 0)
  }
}

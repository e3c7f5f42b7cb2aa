import CairnInspection
import Foundation
import Testing

@testable import Cairn

/// The committed damaged stores: what the verifier finds in each, and what salvage recovers.
@Suite struct DamagedStoreTests {
  private static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Data/Damaged")

  /// `CAIRN_WRITE_FIXTURES=1 swift test --filter DamagedStoreTests` writes the stores anew.
  private static let isWriting = ProcessInfo.processInfo.environment["CAIRN_WRITE_FIXTURES"] != nil

  private static func path(_ name: String) -> String { directory.appending(path: name).path() }

  @Test("The committed damaged stores equal ones made now.", arguments: DamagedStores.names)
  func isWhatOneMadeNowIs(_ name: String) throws {
    let files = try DamagedStores.make(name)
    if Self.isWriting { try FixtureTests.write(files, to: Self.directory.appending(path: name)) }
    for (file, bytes) in files {
      #expect(try [UInt8](Data(contentsOf: Self.directory.appending(path: "\(name)/\(file)"))) == bytes, "\(file)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: Self.path(name)).count == files.count)
  }

  @Test(
    "G10: The verifier reports the expected findings in each damaged store.",
    arguments: [
      ("torn-tail", [Finding.Kind.tornTail]), ("flipped-record", [.record]), ("flipped-compacted-record", [.record]),
      ("flipped-header", [.segmentHeader]), ("flipped-manifest", [.manifest]), ("missing-segment", [.missingSegment]),
      ("zero-length-segment", [.shortSegment, .segmentHeader]),
    ])
  func hasTheExpectedFindings(_ name: String, _ kinds: [Finding.Kind]) throws {
    let verification = try Verifier(at: Self.path(name)).run()
    #expect(verification.findings.map(\.kind) == kinds, "\(verification.findings)")
    #expect(verification.damage.isEmpty == (name == "torn-tail"))
  }

  @Test(
    "Each damaged store is refused as expected.",
    arguments: [("newer-format", StoreError.Code.newerFormat), ("not-a-store", .notAStore)])
  func isRefused(_ name: String, _ code: StoreError.Code) throws {
    for attempt in [
      { _ = try Verifier(at: Self.path(name)).run() }, { _ = try LogReader(at: Self.path(name)) },
      { _ = try Salvage.run(from: Self.path(name), to: NSTemporaryDirectory() + UUID().uuidString) },
    ] {
      let error = #expect(throws: StoreError.self) { try attempt() }
      #expect(error?.code == code)
    }
  }

  /// All rows of the undamaged store, by keyspace, sorted as they are for a salvaged store.
  private func sound() throws -> [String: [Row]] {
    var rows: [String: [Row]] = [:]
    try withTemporaryDirectory { directory in
      let path = directory + "/sound"
      try FixtureTests.write(try DamagedStores.sound(), to: URL(filePath: path))
      rows = try Self.rows(of: path)
    }
    return rows
  }

  private static func rows(of path: String) throws -> [String: [Row]] {
    let store = try Store.openForInspection(at: path)
    defer { try? store.close() }
    var rows: [String: [Row]] = [:]
    for keyspace in store.keyspaces {
      rows[keyspace.name] = try store.snapshot().rows(in: keyspace).sorted { $0.key < $1.key }
    }
    return rows
  }

  @Test(arguments: [
    ("torn-tail", 0, 0), ("flipped-record", 1, 1), ("flipped-compacted-record", 1, 1), ("flipped-header", 1, 0),
    ("flipped-manifest", 1, 0), ("missing-segment", 1, 3), ("zero-length-segment", 1, 3),
  ])
  func salvagingLosesOnlyWhatIsDamaged(_ name: String, _ losses: Int, _ rows: Int) throws {
    let sound = try sound()
    try withTemporaryDirectory { directory in
      let path = directory + "/saved"
      let report = try Salvage.run(from: Self.path(name), to: path)
      #expect(report.losses.filter { !$0.isTornTail }.count == losses, "\(report.losses)")
      #expect(try Verifier(at: path).run().findings.isEmpty)
      let saved = try Self.rows(of: path)
      #expect(saved.keys.sorted() == sound.keys.sorted())
      let missing = sound.flatMap { name, rows in rows.filter { !(saved[name] ?? []).contains($0) } }
      #expect(missing.count == rows, "\(missing)")
    }
  }

  @Test func salvagingASoundStoreLosesNothing() throws {
    try withTemporaryDirectory { directory in
      for (name, files) in ["sound": try DamagedStores.sound(), "retained": try Fixtures.retained()] {
        let path = "\(directory)/\(name)"
        try FixtureTests.write(files, to: URL(filePath: path))
        let report = try Salvage.run(from: path, to: path + "-saved")
        #expect(report.losses.isEmpty)
        let (store, saved) = (try Store.openForInspection(at: path), try Store.openForInspection(at: path + "-saved"))
        defer { for store in [store, saved] { try? store.close() } }
        var differences = 0
        try StoreDiff(store, saved, isExact: true).forEach { _ in
          differences += 1
          return .next
        }
        #expect(differences == 0)
        for keyspace in store.keyspaces {
          let other = try saved.existingKeyspace(keyspace.name)
          for number in 0..<40 as Range<Int64> {
            #expect(
              try store.history(of: .integer(number), in: keyspace) == saved.history(of: .integer(number), in: other))
          }
        }
      }
    }
  }

  @Test func whereverABitFlipsNothingTrapsAndAllOtherRowsComeBack() throws {
    let files = try DamagedStores.sound()
    let sound = try sound()
    let count = sound.reduce(0) { $0 + $1.value.count }
    try withTemporaryDirectory { directory in
      for name in [DamagedStores.compacted, DamagedStores.sealed, ManifestFile.name] {
        let length = files[name]?.count ?? 0
        for offset in stride(from: 0, to: length, by: 7) {
          var damaged = files
          damaged[name]?[offset] ^= 1 << UInt8(offset % 8)
          let path = "\(directory)/damaged"
          try FixtureTests.write(damaged, to: URL(filePath: path))
          do {
            _ = try Salvage.run(from: path, to: "\(directory)/saved")
          } catch let error as StoreError {
            // The flipped bit gave a format version that no reader knows.
            #expect(error.code == .newerFormat, "\(name) at \(offset): \(error)")
            continue
          }
          let saved = try Self.rows(of: "\(directory)/saved").reduce(0) { $0 + $1.value.count }
          #expect(saved >= count - 2, "\(name) at \(offset)")
          try FileManager.default.removeItem(atPath: "\(directory)/saved")
        }
      }
    }
  }
}

import CairnInspection
import CairnSimulation
import Testing

@testable import Cairn

/// What the verifier reports about stores that have been damaged or changed.
@Suite struct VerifierTests {
  private let first = "0000000001.segment"
  private let second = "0000000002.segment"
  /// The last segment that has rows; it has a torn tail.
  private let last = "0000000004.segment"

  private func verify(_ change: (inout Fixtures.Files) throws -> Void) throws -> Verification {
    var files = try Fixtures.everything()
    try change(&files)
    return try verify(files)
  }

  private func verify(_ files: Fixtures.Files) throws -> Verification { try verifier(of: files).run() }

  private func verifier(of files: Fixtures.Files) throws -> Verifier {
    Verifier(at: "/store", files: try layer(with: files))
  }

  private func layer(with files: Fixtures.Files) throws -> MemoryFileLayer {
    let layer = MemoryFileLayer()
    try layer.createDirectory("/store")
    for (name, bytes) in files { try layer.open("/store/\(name)", .create).writeAll(bytes, at: 0) }
    return layer
  }

  private func expect(
    _ verification: Verification, _ kind: Finding.Kind, in file: String, at offset: Int? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let findings = verification.damage
    #expect(findings.map(\.kind) == [kind], "\(findings)", sourceLocation: location)
    #expect(findings.first?.file == file, sourceLocation: location)
    if let offset { #expect(findings.first?.offset == offset, sourceLocation: location) }
  }

  @Test func aTornTailIsANote() throws {
    let verification = try verify { _ in }
    #expect(verification.damage.isEmpty)
    #expect(verification.findings.map(\.kind) == [.tornTail])
    #expect(verification.frames == 21)
    #expect(verification.segments == 3)
  }

  @Test func everyFlippedBitOfTheSealedLogIsFound() throws {
    let files = try Fixtures.everything()
    let length = try #require(files[first]).count
    for offset in stride(from: 0, to: length, by: 1013) {
      var damaged = files
      damaged[first]?[offset] ^= 1 << UInt8(offset % 8)
      let verification = try verify(damaged)
      #expect(!verification.damage.isEmpty, "offset \(offset)")
      #expect(verification.frames >= 18, "the frames after it are still read")
      #expect(verification.findings.last?.kind == .tornTail, "offset \(offset)")
    }
  }

  @Test func aFlippedBitInARecordIsNamed() throws {
    // The first frame begins at offset 128, its first record at 176.
    expect(try verify { $0[first]?[190] ^= 4 }, .record, in: first, at: 176)
    // With a wrong length, everything after it in the frame is lost, and counts as one problem.
    expect(try verify { $0[first]?[182] ^= 4 }, .record, in: first, at: 176)
    // The commit time is covered only by the frame's checksum.
    let verification = try verify { $0[first]?[128 + 24] ^= 4 }
    expect(verification, .frame, in: first, at: 128)
  }

  @Test("The verifier reports damage in a sealed segment before it reads the rest, and reads the log once.")
  func foundAtOnce() throws {
    var files = try Fixtures.everything()
    files[first]?[190] ^= 4
    var found: [Finding] = []
    // How many findings had been reported at each call for progress.
    var counts: [Int] = []
    let verification = try verifier(of: files).run(.checksums) { stage, _, _ in
      #expect(stage == .log)
      counts.append(found.count)
      return true
    } found: {
      found.append($0)
    }
    #expect(found == verification.findings)
    #expect(found.map(\.kind) == [.record, .tornTail])
    let segments = counts.count / 2
    #expect(counts.count == 2 * segments, "a pass, and a short one for the torn tail")
    #expect(counts.first == 0 && counts.dropFirst().allSatisfy { $0 == 1 }, "\(counts)")
  }

  @Test("The verifier does not report damage that is gone when it reads the store again.") func notReported() throws {
    let sound = try threeCommits()
    var damaged = sound
    damaged[first]?[180] ^= 1
    #expect(try verify(damaged).damage.map(\.kind) == [.record])
    let layer = try layer(with: damaged)
    var passes = 0
    var found: [Finding] = []
    let verification = try Verifier(at: "/store", files: layer).run { stage, done, _ in
      if stage == .log, done == 0 { passes += 1 }
      if passes == 1, let bytes = sound[first] {
        // The first pass has copied the file by now.
        do { try layer.open("/store/\(first)", .readWrite).writeAll(bytes, at: 0) } catch { Issue.record("\(error)") }
      }
      return true
    } found: {
      found.append($0)
    }
    #expect(passes > 1)
    #expect(found.isEmpty && verification.findings.isEmpty, "\(found)")
  }

  @Test("Verifying can be cancelled at each stage, and the progress of the rows counts each reading of a row.")
  func cancelled() throws {
    let machine = try FixtureMachine(random: [1, 2, 3])
    let store = try machine.open()
    let keyspace = try store.keyspace("k")
    try store.write { batch in
      for number in 0..<3000 as Range<Int64> { try batch.put([1], at: .integer(number), in: keyspace) }
    }
    try store.close()
    let files = machine.files()
    var counts: [Int] = []
    _ = try verifier(of: files).run { stage, done, total in
      if stage == .rows {
        counts.append(done)
        #expect(total == 12_000)
      }
      return true
    }
    #expect(counts == (1...11).map { $0 * 1024 })
    for cancelled in [Verifier.Stage.log, .rows] {
      let error = #expect(throws: StoreError.self) {
        try verifier(of: files).run { stage, _, _ in stage != cancelled }
      }
      #expect(error?.code == .cancelled)
    }
  }

  @Test func aFlippedBitInAHeaderIsNamed() throws {
    let verification = try verify { $0[first]?[70] ^= 1 }
    expect(verification, .segmentHeader, in: first, at: 0)
    #expect(verification.frames == 21, "the manifest knows enough to go on")
  }

  @Test func reservedBytesAreChecked() throws {
    expect(try verify { $0[second]?[100] = 1 }, .segmentHeader, in: second)
  }

  @Test func aDamagedManifestIsNamedAndTheLogReadAllTheSame() throws {
    let verification = try verify { $0["MANIFEST"]?[50] ^= 1 }
    expect(verification, .manifest, in: "MANIFEST")
    #expect(verification.frames == 21)
    expect(try verify { $0["MANIFEST"] = nil }, .manifest, in: "MANIFEST")
    expect(try verify { $0["MANIFEST"]?.removeLast(9) }, .manifest, in: "MANIFEST")
    expect(try verify { $0["MANIFEST"]?[0] = 0 }, .manifest, in: "MANIFEST")
  }

  @Test func missingAndShortSegmentsAreNamed() throws {
    expect(try verify { $0[first] = nil }, .missingSegment, in: first)
    let verification = try verify { $0[second] = [] }
    #expect(verification.damage.map(\.kind).contains(.shortSegment))
    #expect(try verify { $0[second]?.removeLast(100) }.damage.map(\.kind).contains(.shortSegment))
  }

  @Test func segmentsOfOthersAreNamed() throws {
    let other = try Fixtures.example()
    let zeros = [UInt8](repeating: 0, count: 60_000)
    expect(try verify { $0[second] = ($0[first] ?? []) + zeros }, .foreignSegment, in: second)
    expect(try verify { $0[first] = (other[first] ?? []) + zeros }, .foreignSegment, in: first)
  }

  /// Three commits, each durable, so that the third records that the second is.
  private func threeCommits() throws -> Fixtures.Files {
    let machine = try FixtureMachine(random: [1, 2, 3])
    let store = try machine.open()
    let keyspace = try store.keyspace("k")
    for number in 1...3 { try store.put([UInt8(number)], at: .integer(Int64(number)), in: keyspace) }
    try store.close()
    return machine.files()
  }

  @Test func belowTheWatermarkNothingIsTorn() throws {
    let files = try threeCommits()
    #expect(try verify(files).findings.isEmpty)

    var damaged = files
    damaged[first]?[180] ^= 1
    expect(try verify(damaged), .record, in: first, at: 176)
    damaged = files
    damaged[first]?[40] ^= 1
    expect(try verify(damaged), .segmentHeader, in: first, at: 0)
    #expect(try verify(damaged).frames == 3)

    // The third commit itself may have been torn.
    damaged = files
    let end = try #require(files[first]).count
    damaged[first]?[end - 9] ^= 1
    let verification = try verify(damaged)
    #expect(verification.damage.isEmpty)
    #expect(verification.findings.map(\.kind) == [.tornTail])
    #expect(verification.lastSequence == 2)
  }

  @Test func otherFilesAreNotes() throws {
    let verification = try verify { files in
      files["notes.txt"] = [1]
      files["0000000001-128.discarded"] = [1]
      files["0000000003.segment"] = [1]
    }
    #expect(verification.damage.isEmpty)
    #expect(verification.findings.count { $0.kind == .otherFile } == 3)
  }

  @Test func whatIsNoStoreIsRefused() throws {
    for files in [["a": [1]], ["MANIFEST": [1, 2, 3]], [:]] as [Fixtures.Files] {
      let error = #expect(throws: StoreError.self) { try verify(files) }
      #expect(error?.code == .notAStore)
    }
    let error = #expect(throws: StoreError.self) { try Verifier(at: "/nowhere", files: MemoryFileLayer()).run() }
    #expect(error?.code == .notFound)
  }

  @Test func aNewerFormatIsRefused() throws {
    let error = #expect(throws: StoreError.self) { try verify { $0["MANIFEST"]?[8] = 2 } }
    #expect(error?.code == .newerFormat)
  }

  @Test func badContentBehindGoodChecksumsIsNamed() throws {
    // Frames as a faulty writer would leave them: their checksums are right, and their records make no sense.
    let header = SegmentHeader(
      store: 1, id: 1, epoch: 1, baseSequence: 0, created: 0, watermark: .none,
      recoveredEnd: Place(segment: 0, offset: 0))
    var manifest = Manifest(store: 1, hashSeed: 0, segmentSize: 1 << 16)
    manifest.epoch = 1
    manifest.nextSegment = 2
    manifest.nextKeyspace = 2
    manifest.highestSequence = 1
    manifest.keyspaces = [Manifest.Keyspace(id: 1, isOrdered: true, definedAt: 1, name: "k")]
    func kinds(
      _ key: [UInt8], _ value: [UInt8], keyspace: KeyspaceID = 1, rawLength: Int? = nil
    ) throws -> [Finding.Kind] {
      let frame = frame(header.seed, key, value, keyspace: keyspace, rawLength: rawLength)
      manifest.segments = [Manifest.Segment(id: 1, epoch: 1, end: 128 + frame.count, baseSequence: 0, lastSequence: 1)]
      return try verify(["MANIFEST": manifest.encoded(), first: header.encoded() + frame]).damage.map(\.kind)
    }
    #expect(try kinds([0x20], [1]) == [])
    #expect(try kinds([0x21, 0], [1]) == [.key])
    #expect(try kinds([0x20], [1], keyspace: 9) == [.unknownKeyspace])
    #expect(try kinds([0x20], [1, 2, 3], rawLength: 200) == [.value])
  }

  /// A frame with one row.
  private func frame(
    _ seed: PlaceSeed, _ key: [UInt8], _ value: [UInt8], keyspace: KeyspaceID, rawLength: Int?
  ) -> [UInt8] {
    let record = RecordHeader(
      kind: .put, compressed: rawLength != nil, keyspace: keyspace, keyLength: key.count, storedLength: value.count,
      rawLength: rawLength ?? value.count, sequence: 1, version: 1, baseSequence: 0)
    var frame = [UInt8](repeating: 0, count: FrameHeader.size + record.paddedLength)
    unsafe frame.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      let start = unsafe base + FrameHeader.size
      unsafe record.write(to: start, baseSequence: 0)
      unsafe bytes[(FrameHeader.size + record.length)...].copyBytes(from: key + value)
      let recordSum = unsafe ~CRC32C.register(seed.start(176), start + 4, record.recordLength - 4)
      unsafe start.storeBytes(of: recordSum.littleEndian, as: UInt32.self)
      unsafe FrameHeader(length: bytes.count, recordCount: 1, sequence: 1, time: 0, watermark: .none).write(to: base)
      var sum = unsafe CRC32C.register(seed.start(128), base + 8, 40)
      sum = unsafe CRC32C.register(sum, start, 4)
      unsafe base.storeBytes(of: (~sum).littleEndian, toByteOffset: 4, as: UInt32.self)
    }
    return frame
  }
}

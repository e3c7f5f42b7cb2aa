import CairnInspection

@testable import Cairn

/// Decoders that take bytes from outside and have to cope with any bytes: each gives a value or a typed error.
///
/// `Tools/fuzz` feeds the targets with libFuzzer's inputs; the tests feed them with the corpora of inputs that were
/// kept.
enum FuzzTarget: String, CaseIterable, Sendable {
  /// A manifest.
  case manifest
  /// One segment of a store, opened.
  case segment
  /// A manifest with its segments, opened.
  case store
  /// A checkpoint with some of its bytes changed, opened.
  case checkpoint
  /// An encoded key.
  case key
  /// The text form of a key.
  case literal
  /// A compressed value.
  case value

  /// Throws a finding if a decoder has done something that it must not do. A trap ends the process and needs no
  /// finding.
  func run(_ input: [UInt8]) throws(FuzzFinding) {
    switch self {
    case .manifest: try Self.manifest(input)
    case .segment: try Self.segment(input)
    case .store: try Self.store(input)
    case .checkpoint: try Self.checkpoint(input)
    case .key: try Self.key(input)
    case .literal: try Self.literal(input)
    case .value: try Self.value(input)
    }
  }

  // MARK: Manifests

  private static func manifest(_ input: [UInt8]) throws(FuzzFinding) {
    var mended = input
    Mending.manifest(&mended)
    for bytes in [input, mended] {
      guard let manifest = decoded(bytes) else { continue }
      guard decoded(manifest.encoded()) == manifest else {
        throw FuzzFinding("a manifest is not the same once written and read again: \(manifest)")
      }
    }
  }

  private static func decoded(_ bytes: [UInt8]) -> Manifest? {
    do throws(Manifest.Problem) {
      return try unsafe bytes.withRawBytes { (raw) throws(Manifest.Problem) in try unsafe Manifest(raw) }
    } catch {
      return nil
    }
  }

  // MARK: Stores

  /// The first byte says whether the segment is sealed, and whether it keeps the identity in its own header; the rest
  /// is the segment.
  private static func segment(_ input: [UInt8]) throws(FuzzFinding) {
    guard let flags = input.first else { return }
    var manifest = Manifest(store: 0x0F0E_0D0C_0B0A_0908, hashSeed: 0x5EED, segmentSize: 1 << 16)
    manifest.generation = 2
    manifest.epoch = 1
    manifest.nextSegment = 2
    var segment = Array(input.dropFirst())
    if flags & 2 == 0 { Mending.belongs(&segment, to: manifest.store, id: 1, epoch: 1) }
    Mending.segment(&segment)
    let isSealed = flags & 1 != 0
    manifest.segments = [Manifest.Segment(id: 1, epoch: isSealed ? 1 : 0, end: isSealed ? segment.count : nil)]
    try FuzzedStore([ManifestFile.name: manifest.encoded(), Segment.fileName(1): segment]).use()
  }

  /// The manifest and the segments that it lists, each after its length in two bytes.
  private static func store(_ input: [UInt8]) throws(FuzzFinding) {
    var rest = input[...]
    func next() -> [UInt8] {
      let length = rest.prefix(2).reversed().reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(2)
      defer { rest = rest.dropFirst(length) }
      return Array(rest.prefix(length))
    }
    var manifest = next()
    Mending.manifest(&manifest)
    var files = [ManifestFile.name: manifest]
    for entry in decoded(manifest)?.segments ?? [] where !rest.isEmpty {
      var segment = next()
      Mending.segment(&segment)
      files[Segment.fileName(entry.id)] = segment
    }
    try FuzzedStore(files).use()
  }

  private static let storeWithCheckpoint = Result { try FuzzedStore.withCheckpoint() }

  /// Changes of ten bytes each: an offset in two bytes and the eight bytes to put there. An offset past the end changes
  /// nothing.
  private static func checkpoint(_ input: [UInt8]) throws(FuzzFinding) {
    guard case .success(var files) = storeWithCheckpoint,
      let name = files.keys.first(where: { $0.hasSuffix(".checkpoint") }), var bytes = files[name]
    else { throw FuzzFinding("no store to begin with: \(storeWithCheckpoint)") }
    for start in stride(from: 0, to: input.count - 9, by: 10) {
      let offset = Int(input[start]) << 8 | Int(input[start + 1])
      for (index, byte) in input[start + 2..<start + 10].enumerated() where offset + index < bytes.count {
        bytes[offset + index] = byte
      }
    }
    Mending.checkpoint(&bytes)
    files[name] = bytes
    try FuzzedStore(files).endure()
  }

  // MARK: Keys and values

  private static func key(_ input: [UInt8]) throws(FuzzFinding) {
    var keys: [Key] = []
    for bytes in [input, Array(input.prefix(input.count / 2)), Array(input.dropFirst(input.count / 2))] {
      let key = try? Key(encoded: bytes)
      let natural: Int64? = if case .integer(let number)? = key, number >= 0 { number } else { nil }
      guard unsafe bytes.withUnsafeBytes({ unsafe Key.natural(encoded: $0.bytes) }) == natural else {
        throw FuzzFinding("\(bytes) is decoded as a number in two ways")
      }
      guard let key else { continue }
      guard key.encoded == bytes else { throw FuzzFinding("\(key) has two encodings") }
      guard (try? Key(literal: key.literal)) == key else {
        throw FuzzFinding("\(key) is written as \(key.literal), which is read as something else")
      }
      guard !key.description.isEmpty else { throw FuzzFinding("a key without a description") }
      let prefix = KeyRange.prefix(key)
      guard !bytes.lexicographicallyPrecedes(prefix.lower),
        prefix.upper.map({ bytes.lexicographicallyPrecedes($0) }) ?? true
      else { throw FuzzFinding("\(key) does not begin with itself") }
      keys.append(key)
    }
    for left in keys {
      for right in keys {
        let (first, second) = (left.encoded, right.encoded)
        guard (left < right) == first.lexicographicallyPrecedes(second), (left == right) == (first == second) else {
          throw FuzzFinding("\(left) and \(right) are ordered in two ways")
        }
      }
    }
  }

  private static func literal(_ input: [UInt8]) throws(FuzzFinding) {
    let text = String(decoding: input, as: UTF8.self)
    guard let key = try? Key(literal: text) else { return }
    guard (try? Key(literal: key.literal)) == key else {
      throw FuzzFinding("\(text) is \(key), written \(key.literal), which is read as something else")
    }
  }

  /// The first three bytes are the claimed length of the decompressed value; the rest is the compressed value.
  private static func value(_ input: [UInt8]) throws(FuzzFinding) {
    let raw = input.prefix(3).reversed().reduce(0) { $0 << 8 | Int($1) }
    let block = Array(input.dropFirst(3))
    if let value = decompressed(block, raw), let again = compressed(value), decompressed(again, raw) != value {
      throw FuzzFinding("a value is not the same once compressed and decompressed")
    }
    if let compressed = compressed(block) {
      guard compressed.count <= LZ4Compressor.limit(block.count) else { throw FuzzFinding("compressing saved nothing") }
      guard decompressed(compressed, block.count) == block else {
        throw FuzzFinding("a value is not the same once compressed and decompressed")
      }
    }
  }

  private static func decompressed(_ block: [UInt8], _ raw: Int) -> [UInt8]? {
    guard LZ4.isPlausible(stored: block.count, raw: raw) else { return nil }
    var isValid = false
    let value = unsafe [UInt8](unsafeUninitializedCapacity: raw) { buffer, count in
      isValid = unsafe block.withUnsafeBytes {
        unsafe LZ4.decompress($0, into: UnsafeMutableRawBufferPointer(buffer))
      }
      count = isValid ? raw : 0
    }
    return isValid ? value : nil
  }

  private static func compressed(_ value: [UInt8]) -> [UInt8]? {
    var compressor = LZ4Compressor()
    var length: Int?
    let block = unsafe [UInt8](unsafeUninitializedCapacity: LZ4Compressor.limit(value.count) + 1) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      length = unsafe value.withUnsafeBytes { unsafe compressor.compress($0, into: UnsafeMutableRawPointer(base)) }
      count = length ?? 0
    }
    return length == nil ? nil : block
  }
}

/// Something that a decoder has done although it must not.
struct FuzzFinding: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

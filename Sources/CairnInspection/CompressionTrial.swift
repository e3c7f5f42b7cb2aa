import Cairn

/// Measures, with samples, how well a keyspace's values compress.
package struct CompressionTrial: Sendable {
  /// One in this many samples is compressed; the others are used for training.
  private static let heldOut = 8
  /// With fewer bytes of samples a dictionary cannot be judged, and longer values have enough repetition in themselves.
  private static let fewestBytes = 1 << 14
  private static let longestAverage = 8 << 10

  /// Uncompressed bytes of the samples that were compressed.
  package private(set) var rawBytes = 0
  /// Bytes of these samples, each compressed by itself.
  package private(set) var plainBytes = 0
  /// Bytes of these samples, compressed with the dictionary; nil without one.
  package private(set) var dictionaryBytes: Int?
  /// Bytes of these samples, compressed as compaction does it: at the high level, with the dictionary if there is one.
  package private(set) var highBytes = 0
  /// Empty if the samples have too little in common, too few bytes, or too long values.
  package private(set) var dictionary: [UInt8] = []

  /// Takes some 20 µs for each of an eighth of the samples, and 0.1 s for training.
  package init(samples: [[UInt8]]) {
    let bytes = samples.reduce(0) { $0 + $1.count }
    if bytes >= Self.fewestBytes, bytes / samples.count <= Self.longestAverage {
      let kept = samples.enumerated().filter { $0.offset % Self.heldOut > 0 }.map(\.element)
      dictionary = DictionaryTraining.train(
        samples: kept, capacity: min(LZ4Dictionary.maximumLength, bytes / Self.heldOut))
    }
    var compressor = LZ4Compressor()
    let trained = dictionary.isEmpty ? nil : unsafe dictionary.withUnsafeBytes { unsafe LZ4Dictionary($0) }
    var high = LZ4HighCompressor(trained)
    if trained != nil { dictionaryBytes = 0 }
    for number in stride(from: 0, to: samples.count, by: Self.heldOut) {
      let value = samples[number]
      rawBytes += value.count
      plainBytes += compressor.block(of: value, with: nil)?.count ?? value.count
      if let trained {
        dictionaryBytes? += compressor.block(of: value, with: trained)?.count ?? value.count
      }
      highBytes += high.length(of: value)
    }
  }

  /// Whether the dictionary pays off for `valueBytes` bytes of values: compressed with it, and with its own bytes
  /// added, they take at most nine tenths of what they take without it. A store adopts a dictionary by the same rule.
  package func dictionaryPays(for valueBytes: Int) -> Bool {
    guard let dictionaryBytes, valueBytes > 0 else { return false }
    let share = dictionary.count * rawBytes / valueBytes
    return (dictionaryBytes + share) * 10 <= plainBytes * 9
  }
}

extension LZ4Compressor {
  /// An LZ4 block of a value; nil if it is to be stored as it is.
  mutating func block(of value: [UInt8], with dictionary: LZ4Dictionary?) -> [UInt8]? {
    guard Self.limit(value.count) > 0 else { return nil }
    var length: Int?
    let block = unsafe [UInt8](unsafeUninitializedCapacity: value.count + 1) { buffer, count in
      unsafe value.withUnsafeBytes { value in
        guard let target = unsafe buffer.baseAddress.map(UnsafeMutableRawPointer.init) else { return }
        if let dictionary, value.count <= Self.longestValueWithDictionary {
          length = unsafe compress(value, with: dictionary, into: target)
        } else {
          length = unsafe compress(value, into: target)
        }
      }
      count = length ?? 0
    }
    return length == nil ? nil : block
  }
}

extension LZ4HighCompressor {
  fileprivate mutating func length(of value: [UInt8]) -> Int {
    guard !value.isEmpty else { return 0 }
    return unsafe withUnsafeTemporaryAllocation(byteCount: value.count + 1, alignment: 8) { target in
      unsafe value.withUnsafeBytes { value in
        unsafe compress(value, below: value.count, into: target.baseAddress.unsafelyUnwrapped) ?? value.count
      }
    }
  }
}

import Synchronization

/// Compresses values again while compaction copies them, with more effort than a writer can afford.
///
/// The gain for a keyspace is measured with its first values; if it is too small, the other values stay as they are. A
/// value is replaced only by a shorter block that decompresses to the same value.
@safe struct Reencoder: ~Copyable {
  enum Effort {
    /// Values stay as they are.
    case none
    /// Only values that compaction has not yet compressed with the dictionary that their keyspace uses today.
    case new
    case all
  }

  /// A value as it is to be stored. Valid until the next call of `value(of:in:isCompacted:)`.
  @safe struct Value {
    let stored: UnsafeRawBufferPointer
    let isCompressed: Bool
    let dictionary: DictionaryID

    /// The value as a record has it.
    init(_ record: RecordView) {
      unsafe self.init(
        stored: record.stored, isCompressed: record.header.isCompressed, dictionary: record.header.dictionary)
    }

    init(stored: UnsafeRawBufferPointer, isCompressed: Bool, dictionary: DictionaryID) {
      unsafe self.stored = stored
      self.isCompressed = isCompressed
      self.dictionary = dictionary
    }
  }

  /// What has been measured for a keyspace.
  private final class Trial {
    let dictionary: StoredDictionary?
    var compressor: LZ4HighCompressor
    /// Bytes of values before and after compressing them again.
    var before = 0
    var after = 0

    init(_ keyspace: KeyspaceIndex) {
      dictionary = unsafe keyspace.dictionary.load(ordering: .acquiring)?.takeUnretainedValue()
      compressor = LZ4HighCompressor(dictionary?.content)
    }

    /// Whether the gain is at least three hundredths; true as long as there are too few bytes to tell.
    var pays: Bool { before < Reencoder.enoughToTell || after * 100 <= before * 97 }
  }

  private static let enoughToTell = 1 << 16
  /// Longer values would make other work wait.
  private static let longestValue = 1 << 20
  /// The gain must exceed the bytes that a record's header may grow by.
  private static let leastGain = 10

  private let dictionaries: DictionaryTable
  private let effort: Effort
  private var trials: [KeyspaceID: Trial] = [:]
  /// Room for a value, a block, and the decompressed block.
  private var memory: UnsafeMutableRawBufferPointer

  init(dictionaries: DictionaryTable, effort: Effort) {
    self.dictionaries = dictionaries
    self.effort = effort
    unsafe memory = .allocate(byteCount: 0, alignment: 16)
  }

  deinit { unsafe memory.deallocate() }

  /// How the value of a record is to be stored; the record's checksum must have been verified.
  mutating func value(of record: RecordView, in keyspace: KeyspaceIndex, isCompacted: Bool) -> Value {
    let header = record.header
    let asItIs = Value(record)
    guard effort != .none, header.isPut, header.rawLength >= LZ4Compressor.shortestValue,
      header.rawLength <= Self.longestValue, header.storedLength > Self.leastGain
    else { return asItIs }
    let trial = trials[keyspace.id] ?? Trial(keyspace)
    trials[keyspace.id] = trial
    let isOld = isCompacted && header.dictionary == trial.dictionary?.id ?? 0
    guard trial.pays, effort == .all || !isOld else { return asItIs }
    let length = compress(record, trial)
    trial.before += header.storedLength
    trial.after += length ?? header.storedLength
    guard let length else { return asItIs }
    return unsafe Value(
      stored: UnsafeRawBufferPointer(rebasing: memory[header.rawLength..<header.rawLength + length]),
      isCompressed: true, dictionary: trial.dictionary?.id ?? 0)
  }

  /// Compresses a value into `memory`, after the decompressed value. Returns the length of the block; nil if the block
  /// is not to be used.
  private mutating func compress(_ record: RecordView, _ trial: Trial) -> Int? {
    let count = record.header.rawLength
    reserve(3 * count)
    let value = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
    if record.header.isCompressed {
      guard unsafe record.decompress(dictionaries, into: value) else { return nil }
    } else {
      unsafe value.copyMemory(from: record.stored)
    }
    let target = unsafe memory.baseAddress.unsafelyUnwrapped + count
    let below = record.header.storedLength - Self.leastGain
    guard let length = unsafe trial.compressor.compress(UnsafeRawBufferPointer(value), below: below, into: target)
    else { return nil }
    let block = unsafe UnsafeRawBufferPointer(start: target, count: length)
    let back = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[2 * count..<3 * count])
    let isWhole =
      if let dictionary = trial.dictionary {
        unsafe LZ4.decompress(block, with: dictionary.content.bytes, into: back)
      } else {
        unsafe LZ4.decompress(block, into: back)
      }
    guard isWhole, unsafe UnsafeRawBufferPointer(value).equals(UnsafeRawBufferPointer(back)) else { return nil }
    return length
  }

  private mutating func reserve(_ count: Int) {
    guard unsafe memory.count < count else { return }
    unsafe memory.deallocate()
    unsafe memory = .allocate(byteCount: count * 2, alignment: 16)
  }
}

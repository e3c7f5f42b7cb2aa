/// Reads the values of one record after the other.
///
/// LZ4 takes less than half the time for a value that it writes directly behind the dictionary. So once several values
/// in a row have needed the same dictionary, this copies it, and decompresses values behind the copy.
@safe struct ValueReader: ~Copyable {
  private let dictionaries: DictionaryTable
  /// A copy of the dictionary, and room for a value; empty as long as there is no copy.
  private var memory = unsafe UnsafeMutableRawBufferPointer(start: nil, count: 0)
  /// The dictionary of the last value that needed one.
  private var dictionary: DictionaryID = 0
  /// How many values in a row needed it.
  private var repeats = 0

  /// After so many values a dictionary is copied.
  private static let fewRepeats = 16
  private static let longestValue = LZ4Compressor.longestValueWithDictionary

  init(_ dictionaries: DictionaryTable) { self.dictionaries = dictionaries }

  deinit { unsafe memory.deallocate() }

  /// Calls `body` with the value as it was put: in place if it is stored uncompressed.
  @inline(__always)
  mutating func withValue(of record: RecordView, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    guard record.header.dictionary > 0, record.header.rawLength <= Self.longestValue else {
      return try unsafe record.withValue(dictionaries, body)
    }
    try unsafe withDictionary(of: record, body)
  }

  @inline(never)
  private mutating func withDictionary(
    of record: RecordView, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    if record.header.dictionary != dictionary {
      (dictionary, repeats) = (record.header.dictionary, 0)
      unsafe memory.deallocate()
      unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    }
    repeats += 1
    if repeats == Self.fewRepeats { copyDictionary() }
    guard unsafe memory.count > 0 else { return try unsafe record.withValue(dictionaries, body) }
    let length = unsafe memory.count - Self.longestValue
    let value = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[length..<length + record.header.rawLength])
    let copy = unsafe UnsafeRawBufferPointer(rebasing: memory[..<length])
    guard unsafe LZ4.decompress(record.stored, with: copy, into: value) else { throw record.invalidBlock }
    try unsafe body(UnsafeRawBufferPointer(value))
  }

  /// Does nothing if the dictionary is not known, or if there is no memory.
  private mutating func copyDictionary() {
    guard let content = unsafe dictionaries.find(dictionary)?.withBorrowed({ unsafe $0.content.bytes }) else { return }
    let count = content.count + Self.longestValue
    guard let start = unsafe try? allocateMemory(count) else { return }
    unsafe memory = UnsafeMutableRawBufferPointer(start: start, count: count)
    unsafe memory.copyMemory(from: content)
  }
}

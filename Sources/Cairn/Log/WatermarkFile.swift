/// Keeps the record of how far the log is durable in a file of its own, because a segment that is cut or lost cannot
/// tell.
///
/// The record is written after each sync, without being synced itself, and synced when the store is closed. So it may
/// be old but never ahead of the log; if the process is killed, the record stays as last written. Only one thread at a
/// time may use it.
final class WatermarkFile: @unchecked Sendable {
  private let directory: any Directory
  private var file: (any File)?
  /// Makes writing to the file a matter of memory.
  private var mapping: (any Mapping)?
  private var isNamed = true
  private var number = 0
  private var written: WatermarkRecord?

  init(_ directory: any Directory) { self.directory = directory }

  /// The newest record; nil if there is none that can be read.
  static func read(_ directory: any Directory) throws(StoreError) -> WatermarkRecord? {
    do throws(FileError) {
      let file = try directory.open(WatermarkRecord.fileName, .read)
      defer { file.close() }
      return newest(in: try file.bytes(WatermarkRecord.fileLength))?.record
    } catch {
      guard error.cause == .notFound else { throw StoreError(error) }
      return nil
    }
  }

  private static func newest(in bytes: [UInt8]) -> (record: WatermarkRecord, number: Int)? {
    unsafe bytes.withUnsafeBytes { unsafe WatermarkRecord.newest(in: $0) }
  }

  func write(_ record: WatermarkRecord) throws(FileError) {
    guard record != written else { return }
    let file = try openFile()
    number = (number + 1) % WatermarkRecord.offsets.count
    try file.writeAll(record.encoded(), at: WatermarkRecord.offsets[number])
    written = record
  }

  /// Makes what has been written durable.
  func sync() throws(FileError) {
    guard written != nil, let file else { return }
    try file.sync()
    if !isNamed { try directory.sync() }
    isNamed = true
  }

  func close() {
    file?.close()
    file = nil
    mapping = nil
  }

  private func openFile() throws(FileError) -> any File {
    if let file { return file }
    let file = try openOrCreate()
    do throws(FileError) {
      number = Self.newest(in: try file.bytes(WatermarkRecord.fileLength))?.number ?? 0
      try file.reserve(WatermarkRecord.fileLength)
      mapping = try file.map(WatermarkRecord.fileLength)
    } catch {
      file.close()
      throw error
    }
    self.file = file
    return file
  }

  private func openOrCreate() throws(FileError) -> any File {
    do throws(FileError) {
      return try directory.open(WatermarkRecord.fileName, .readWrite)
    } catch {
      guard error.cause == .notFound else { throw error }
    }
    isNamed = false
    return try directory.open(WatermarkRecord.fileName, .create)
  }
}

/// Collects the nodes of a checkpoint, and writes them to its file and checksums them a chunk at a time.
@safe final class NodeFile: NodeSink {
  private let file: any File
  private var memory: UnsafeMutableRawPointer
  private var capacity = CheckpointTables.chunkSize * 2
  /// Bytes in memory; `written` is the offset in the file at which they belong.
  private var count = 0
  private var written = CheckpointTables.nodesStart
  private(set) var checksums: [UInt32] = []

  init(_ file: any File) {
    self.file = file
    unsafe memory = .allocate(byteCount: capacity, alignment: 64)
  }

  deinit { unsafe memory.deallocate() }

  /// Offset at which the nodes end so far.
  var end: Int { written + count }

  func add(_ size: Int, _ fill: (UnsafeMutableRawPointer) -> Void) throws(StoreError) -> UInt32 {
    try unsafe add(size) { (memory) throws(StoreError) in unsafe fill(memory) }.address
  }

  /// Adds a node whose contents a body fills in that can throw.
  func add<R>(
    _ size: Int, _ fill: (UnsafeMutableRawPointer) throws(StoreError) -> R
  ) throws(StoreError) -> (address: UInt32, result: R) {
    let size = (size + 63) & ~63
    guard end + size <= Int(UInt32.max) * 64 else {
      throw StoreError(.indexTooLarge, "the index is too large for a checkpoint")
    }
    if count + size > capacity { grow(size) }
    unsafe (memory + count).initializeMemory(as: UInt8.self, repeating: 0, count: size)
    let result = try unsafe fill(memory + count)
    let address = UInt32(end / 64)
    count += size
    while count >= CheckpointTables.chunkSize { try write(CheckpointTables.chunkSize) }
    return (address, result)
  }

  private func grow(_ size: Int) {
    capacity = count + size
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 64)
    unsafe larger.copyMemory(from: memory, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = unsafe larger
  }

  private func write(_ length: Int) throws(StoreError) {
    let chunk = unsafe UnsafeRawBufferPointer(start: memory, count: length)
    checksums.append(unsafe CRC32C.checksum(chunk))
    do throws(FileError) { try unsafe file.write(chunk, at: written) } catch { throw StoreError(error) }
    written += length
    count -= length
    unsafe memory.copyMemory(from: memory + length, byteCount: count)
  }

  /// Writes the remaining nodes, and the tables around the nodes. Returns the length of the file.
  func finish(_ tables: CheckpointTables) throws(StoreError) -> Int {
    if count > 0 { try write(count) }
    var tables = tables
    tables.nodesEnd = written
    tables.chunkChecksums = checksums
    let (header, rest) = tables.encoded()
    do throws(FileError) {
      try file.writeAll(rest, at: written)
      try file.writeAll(header + [UInt8](repeating: 0, count: CheckpointTables.nodesStart - header.count), at: 0)
    } catch {
      throw StoreError(error)
    }
    return written + rest.count
  }
}

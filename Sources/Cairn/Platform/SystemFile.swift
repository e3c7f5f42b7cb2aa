import CCairnPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

final class SystemFile: File {
  private let state: Atomic<Int32>
  let path: String
  private let isWritable: Bool
  /// Number of bytes from the beginning whose blocks are reserved.
  private let reserved = Atomic<Int>(0)
  /// The file mapped for writing, where that is sound: storing into a page that is present costs a fraction of a system
  /// call. 0 if it is not mapped.
  private let window = Atomic<UInt>(0)
  private let windowLength = Atomic<Int>(0)

  /// Longer writes use a system call.
  private static let longestStore = 4096

  init(_ descriptor: Int32, _ path: String, isWritable: Bool) {
    state = Atomic(descriptor)
    self.path = path
    self.isWritable = isWritable
  }

  deinit { close() }

  /// -1 once closed; every system call refuses that.
  var descriptor: Int32 { state.load(ordering: .relaxed) }

  func close() {
    let descriptor = state.exchange(-1, ordering: .relaxed)
    if descriptor >= 0 { closeDescriptor(descriptor) }
    let window = unsafe UnsafeMutableRawPointer(bitPattern: window.exchange(0, ordering: .relaxed))
    if let window = unsafe window { unsafe munmap(window, windowLength.load(ordering: .relaxed)) }
  }

  func size() throws(FileError) -> Int { Int(try status("read size of", path, descriptor).st_size) }

  func contentEnd() throws(FileError) -> Int {
    let size = try size()
    #if os(Linux)
      var end = 0
      while end < size {
        // Linux numbers these 3 and 4: SEEK_DATA and SEEK_HOLE.
        let start = lseek(descriptor, off_t(end), 3)
        guard start >= 0 else { return errno == ENXIO ? end : size }
        let hole = lseek(descriptor, start, 4)
        guard hole > start else { return size }
        end = Int(hole)
      }
      return min(end, size)
    #else
      return size
    #endif
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
    var done = 0
    while done < buffer.count {
      let count = try attempt("read", path) {
        unsafe pread(descriptor, buffer.baseAddress! + done, buffer.count - done, off_t(offset + done))
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(FileError) {
    if bytes.count <= Self.longestStore, offset + bytes.count <= reserved.load(ordering: .relaxed),
      offset + bytes.count <= windowLength.load(ordering: .relaxed),
      let window = unsafe UnsafeMutableRawPointer(bitPattern: window.load(ordering: .relaxed))
    {
      unsafe UnsafeMutableRawBufferPointer(start: window + offset, count: bytes.count).copyMemory(from: bytes)
      return
    }
    var done = 0
    while done < bytes.count {
      done += try attempt("write", path) {
        unsafe pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset + done))
      }
    }
  }

  func reserve(_ size: Int) throws(FileError) {
    guard size > 0 else { return }
    let old = try self.size()
    do throws(FileError) {
      switch cairn_reserve(descriptor, 0, Int64(size)) {
      case 0: break
      case EOPNOTSUPP, ENOTSUP, EINVAL: try fill(from: old, to: size)
      case let code: throw FileError(.init(code), "reserve space for", path)
      }
    } catch {
      // A reservation that ran out of space may have extended the file.
      if old < size { _ = ftruncate(descriptor, off_t(old)) }
      throw error
    }
    reserved.store(max(size, reserved.load(ordering: .relaxed)), ordering: .relaxed)
  }

  private func fill(from start: Int, to end: Int) throws(FileError) {
    let zeros = [UInt8](repeating: 0, count: min(max(end - start, 0), 1 << 18))
    for offset in stride(from: start, to: end, by: 1 << 18) {
      try unsafe zeros.withUnsafeBufferPointer { (zeros) throws(FileError) in
        try unsafe write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: zeros.prefix(end - offset))), at: offset)
      }
    }
  }

  func truncate(_ size: Int) throws(FileError) {
    reserved.store(min(size, reserved.load(ordering: .relaxed)), ordering: .relaxed)
    _ = try attempt("truncate", path) { ftruncate(descriptor, off_t(size)) }
  }

  func sync() throws(FileError) {
    try check("sync", path) { cairn_sync_data(descriptor) }
  }

  func map(_ length: Int) throws(FileError) -> any Mapping {
    // The system refuses a mapping of length 0.
    let length = max(length, 1)
    guard let base = unsafe mmap(nil, length, PROT_READ, MAP_SHARED, descriptor, 0), unsafe base != MAP_FAILED else {
      throw FileError(.init(errno), "map", path)
    }
    openWindow(length)
    return unsafe SystemMapping(base, length)
  }

  func mapPrivately(_ length: Int) throws(FileError) -> PrivateMapping {
    do throws(FileError.Cause) {
      return try PrivateMapping(descriptor, max(length, 1))
    } catch {
      throw FileError(error, "map", path)
    }
  }

  /// Stored bytes are visible at once to everyone who maps or reads the file, and survive the end of the process, as
  /// with a system call.
  private func openWindow(_ length: Int) {
    guard isWritable, window.load(ordering: .relaxed) == 0, cairn_overwrites_in_place(descriptor) != 0 else { return }
    let base = unsafe mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let base = unsafe base, unsafe base != MAP_FAILED else { return }
    windowLength.store(length, ordering: .relaxed)
    window.store(UInt(bitPattern: base), ordering: .relaxed)
  }
}

@safe private final class SystemMapping: Mapping {
  nonisolated(unsafe) let base: UnsafeRawPointer
  let length: Int

  init(_ base: UnsafeMutableRawPointer, _ length: Int) {
    unsafe self.base = UnsafeRawPointer(base)
    self.length = length
  }

  deinit { unsafe munmap(UnsafeMutableRawPointer(mutating: base), length) }
}

import Synchronization

/// What a commit does to the space that the log needs in the end.
enum SpaceEffect {
  case takes
  /// Frees more than it takes, but its rows stay. So it must leave space for compaction to write a whole segment again.
  case replaces
  case frees
}

/// Disk space that the store holds back, so that the operations that free space, deletions and compaction, find some
/// when the disk is full.
///
/// It is a file whose content means nothing. An operation that frees space and finds none truncates the file and tries
/// once more: deletions leave some of it for compaction, which may take it all. From then on no other operation takes
/// space until there is enough to fill the file again.
package final class Reserve: Sendable {
  package static let fileName = "RESERVE"

  enum Borrower {
    case compaction
    /// A commit whose frame has `length` bytes, and that leaves so many for compaction.
    case commit(_ length: Int, leaving: Int)
  }

  private let directory: any Directory
  /// How many bytes a segment reserves at a time while the reserve is being used up.
  let step: Int
  /// The file's length; nil until it has been read from the file, which may be left from an earlier opening.
  private let held = Lock<Int?>(nil)
  let bytes = Atomic<Int>(0)
  /// Whether some of the reserve has been used up, or none could be allocated.
  let isSpent = Atomic<Bool>(false)

  init(directory: any Directory, segmentSize: Int) {
    self.directory = directory
    step = min(1 << 16, segmentSize / 16)
  }

  /// Bytes that are always left for compaction. Segments that are begun while the reserve is used up are not longer than
  /// that, unless a single frame is, so that compaction has space to write them again without what later deletions
  /// supersede.
  var floor: Int { 4 * step }

  /// Bytes of records for which compaction can find space while the reserve is used up; nil while it is not. The rest
  /// is for headers and the manifest.
  var spaceForCompaction: Int? {
    guard isSpent.load(ordering: .relaxed) else { return nil }
    let bytes = bytes.load(ordering: .relaxed)
    return bytes - bytes / 16
  }

  /// Holds about `size` bytes from now on, or as many as there is space for. Throws `noSpace` if there is none for the
  /// file, or if part of the reserve had been used up and there is not space for all of it.
  func hold(_ size: Int) throws(FileError) {
    try change { (held) throws(FileError) in
      if held < size - size / 4 {
        try grow(&held, to: size)
      } else if held > size * 2 {
        try cut(&held, to: size)
      }
      isSpent.store(false, ordering: .relaxed)
    }
  }

  /// Holds at most `size` bytes.
  func shrink(to size: Int) throws(FileError) {
    try change { (held) throws(FileError) in
      if held > size {
        try cut(&held, to: size)
      } else if held < size, isSpent.load(ordering: .relaxed) {
        try grow(&held, to: size)
      }
    }
  }

  /// Calls an operation that frees space; if it finds no space, gives it some of the reserve and calls it once more.
  func lend<R>(to borrower: Borrower, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    do throws(StoreError) {
      return try body()
    } catch {
      guard error.code == .noSpace, giveUp(borrower) else { throw error }
      return try body()
    }
  }

  /// Gives up space for a borrower; false if there is none to give.
  private func giveUp(_ borrower: Borrower) -> Bool {
    do throws(FileError) {
      return try change { (held) throws(FileError) in
        let left =
          switch borrower {
          case .compaction: 0
          case .commit(let length, let left): max(left, held - length - 2 * step)
          }
        guard left < held else { return false }
        isSpent.store(true, ordering: .relaxed)
        try cut(&held, to: left)
        return true
      }
    } catch {
      return false
    }
  }

  // MARK: The file

  private func change<R>(_ body: (inout Int) throws(FileError) -> R) throws(FileError) -> R {
    try held.withLock { (held) throws(FileError) in
      var length = if let held { held } else { try findFile() }
      defer {
        held = length
        bytes.store(length, ordering: .relaxed)
      }
      return try body(&length)
    }
  }

  private func findFile() throws(FileError) -> Int {
    do throws(FileError) {
      let file = try directory.open(Self.fileName, .read)
      defer { file.close() }
      return try file.size()
    } catch {
      guard error.cause == .notFound else { throw error }
      return 0
    }
  }

  private func cut(_ held: inout Int, to size: Int) throws(FileError) {
    if size == 0 {
      try directory.remove(Self.fileName)
    } else {
      let file = try directory.open(Self.fileName, .readWrite)
      defer { file.close() }
      try file.truncate(size)
    }
    held = size
  }

  /// Reserves `size` bytes; if there is not enough space, fewer. While the reserve is used up, takes all the space there
  /// is except for less than a step: otherwise the next operation that frees space would use up what compaction needs.
  private func grow(_ held: inout Int, to size: Int) throws(FileError) {
    let file = try directory.open(Self.fileName, held > 0 ? .readWrite : .create)
    defer { file.close() }
    let isSpent = isSpent.load(ordering: .relaxed)
    var shortage: FileError?
    var addition = size - held
    while addition > 0, isSpent ? addition >= step || held + addition == size : held + addition > floor {
      do throws(FileError) {
        try file.reserve(held + addition)
        held += addition
        if !isSpent || held == size { break }
      } catch {
        shortage = error
        guard error.cause == .noSpace else { break }
      }
      addition /= 2
    }
    if held == 0 {
      do throws(FileError) { try directory.remove(Self.fileName) } catch {}
      if shortage?.cause == .noSpace { self.isSpent.store(true, ordering: .relaxed) }
    }
    if let shortage, held == 0 || isSpent && held < size { throw shortage }
  }
}

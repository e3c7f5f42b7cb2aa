package import Cairn

/// A sequence of operations on a store, as a value. A step does the same whichever other steps have been left out.
package struct Program: Hashable, Sendable {
  /// Determines everything that the steps leave open: the machines' random numbers, crash states, the targets of
  /// damage.
  package var seed: UInt64
  package var options: Options
  package var steps: [Step]

  package struct Options: Hashable, Sendable {
    package var segmentSize = 1 << 16
    package var compression = true
    package var checkpoints = true
    package var compaction = true
    /// Whether compaction begins as soon as the log is a little longer than it should be, instead of a whole segment
    /// longer.
    package var isTight = false
    package var dictionaries = true
    package var keys = KeyShape.sequential
    /// The number of different keys in each keyspace.
    package var keyCount = 12
    /// Whether the first two keyspaces are ordered and the third isn't; else the other way round.
    package var isOrdered = true
  }

  package init(seed: UInt64, options: Options = Options(), steps: [Step] = []) {
    self.seed = seed
    self.options = options
    self.steps = steps
  }

  /// Steps numbered from 1.
  package init(seed: UInt64, options: Options = Options(), operations: [Operation]) {
    self.init(
      seed: seed, options: options,
      steps: operations.enumerated().map { Step(id: $0.offset + 1, operation: $0.element) })
  }
}

/// One operation. It keeps its number when others are left out, so that everything derived from the number stays the
/// same.
package struct Step: Hashable, Sendable {
  package var id: Int
  package var operation: Operation

  package init(id: Int, operation: Operation) {
    self.id = id
    self.operation = operation
  }
}

package enum Operation: Hashable, Sendable {
  /// One batch. `beside` is a second one, buffered, that is written while the first is being synced.
  case write([Change], Durability, beside: [Change] = [])
  case sync
  /// Runs this many pieces of background work.
  case background(Int)
  case checkpoint
  /// Compacts the segments that are worth it, or all.
  case compact(CompactionExtent)
  /// Drops a keyspace; the next write to it creates it again.
  case drop(Int)
  /// Sets how many versions of each row a keyspace keeps from now on.
  case retain(Int, Int)
  case snapshot
  /// Ends the snapshot with this number, modulo how many there are: 0 the oldest, -1 the newest.
  case release(Int)
  /// Compares everything with the model.
  case check
  /// Opens the store for reading beside the writer.
  case readBeside
  /// Arms a deed for the operations that follow. The deed is done at a moment when another thread could do it, after
  /// this many other such moments.
  case amid(Deed, after: Int)
  /// Opens the store for reading as it was after one of its commits; the number is taken modulo the number of commits.
  case lookBack(Int)
  /// Closes the store and opens it for writing as it was after such a commit.
  case goBack(Int)
  /// Closes the store, which stays closed until a step that opens one.
  case close
  /// Closes the store, if it isn't closed, and opens it again.
  case reopen
  /// The process ends; the next one opens the store.
  case kill
  /// The machine loses power; the next one opens the store.
  case crash
  /// Makes a call of this kind fail, after this many others of the kind.
  case fail(Fault, after: Int)
  /// Limits the free bytes of the disk to this number; nil for no limit.
  case space(Int?)
  /// Flips a bit on each of this many copies of the disk, which are then opened and read.
  case flip(Int)
  /// Misdirects a write, on a copy of the disk that the store then continues to work on.
  case misdirect
  /// Copies every file, so that one of them can be put back later.
  case copyFiles
  /// Damages a whole file, on a copy of the disk that is then opened and read.
  case spoil(Spoiling)
}

/// An action in the middle of other work.
package enum Deed: Hashable, Sendable {
  case snapshot
  /// Ends a snapshot, as ``Operation/release(_:)`` does.
  case release(Int)
  /// Requests a keyspace.
  case ask(Int)
  /// A batch, buffered.
  case write([Change])
  case drop(Int)
}

/// What happens to a whole file while nobody has the store open.
package enum Spoiling: String, Hashable, Sendable, CaseIterable {
  /// The file ends earlier.
  case cut
  /// The file is zeros from some offset on.
  case zero
  case remove
  /// The file is as it was when the files were copied.
  case older = "put-back"
}

package struct Change: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case put(length: Int, fill: Int)
    case delete
    case check
  }

  /// What a batch expects of a row. The expectation itself depends on the row's state when the batch is written.
  package enum Wish: String, Hashable, Sendable, CaseIterable {
    case anything, present, absent
    /// The row's own sequence, or its absence.
    case current
    /// A sequence that the row does not have.
    case stale
  }

  package var keyspace: Int
  package var key: Int
  package var kind: Kind
  package var wish = Wish.anything

  package init(_ keyspace: Int, _ key: Int, _ kind: Kind, _ wish: Wish = .anything) {
    self.keyspace = keyspace
    self.key = key
    self.kind = kind
    self.wish = wish
  }
}

/// Everything that may go wrong, other than a crash.
package enum Fault: String, Hashable, Sendable, CaseIterable {
  case open, read, write, sync
  case directorySync = "directory-sync"
  case name
  case noSpace = "no-space"
  case shortWrite = "short-write"
  /// A sync that reports success after one that failed, although what the failed one should have made durable may be
  /// lost. A program does not arm this fault: it follows from `sync` when the next process opens the store again.
  case falseSync = "false-sync"
  case bitFlip = "bit-flip"
  case misdirectedWrite = "misdirected-write"
  case cutFile = "cut-file"
  case zeroedFile = "zeroed-file"
  case removedFile = "removed-file"
  case olderFile = "older-file"

  /// The faults that a program arms.
  package static let armed: [Fault] = [.open, .read, .write, .sync, .directorySync, .name, .noSpace, .shortWrite]
}

/// The form of a program's keys. Each is a hard case for an index that does not store keys.
package enum KeyShape: String, Hashable, Sendable, CaseIterable {
  case random, sequential
  case sharedPrefix = "shared-prefix"
  case longSharedPrefix = "long-shared-prefix"
  case zeros, tuples

  func key(_ number: Int) -> Key {
    let mixed = UInt64(truncatingIfNeeded: number) &* 0x9E37_79B9_7F4A_7C15
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: mixed >> (56 - 8 * UInt64($0))) }
    switch self {
    case .random: return .bytes(bytes)
    case .sequential: return .integer(Int64(number) - 5)
    case .sharedPrefix: return .string(String(repeating: "shared prefix ", count: 8) + "\(mixed % 100_000) \(number)")
    case .longSharedPrefix: return .bytes([UInt8](repeating: 7, count: 300) + bytes)
    case .zeros: return .bytes([0x7A] + [UInt8](repeating: 0, count: number))
    case .tuples: return [.integer(Int64(number % 7)), .string("name \(number / 7 % 5)"), .integer(Int64(number))]
    }
  }
}

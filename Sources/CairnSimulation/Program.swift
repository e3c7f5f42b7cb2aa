package import Cairn

/// What is done to a store, as values: the same program does the same, whatever has been left out of it.
package struct Program: Hashable, Sendable {
  /// Decides everything that the steps leave open: values' bytes, crash states, what damage hits.
  package var seed: UInt64
  package var options: Options
  package var steps: [Step]

  package struct Options: Hashable, Sendable {
    package var segmentSize = 1 << 16
    package var compression = true
    package var checkpoints = true
    package var compaction = true
    /// Whether compaction begins when the log is a little longer than it should be, and not by a segment.
    package var isTight = false
    package var dictionaries = true
    package var keys = KeyShape.sequential
    /// How many different keys there are in each keyspace.
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

/// One operation. Its number stays when others are left out, so that what is derived from it does too.
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
  /// Compacts what is worth it, or everything.
  case compact(CompactionExtent)
  /// Drops a keyspace, which the next write to it makes anew.
  case drop(Int)
  /// From now on a keyspace keeps so many versions of each row.
  case retain(Int, Int)
  case snapshot
  /// Ends the snapshot with this number, modulo how many there are: 0 the oldest, -1 the newest.
  case release(Int)
  /// Compares everything with the model.
  case check
  /// Opens the store for reading beside the writer.
  case readBeside
  /// In the middle of what comes behind this, at one of the moments when another thread might: after so many others.
  case amid(Deed, after: Int)
  /// Opens the store for reading as it was after one of the commits there have been, modulo how many.
  case lookBack(Int)
  /// Closes the store and opens it for writing as it was after that commit.
  case goBack(Int)
  /// Closes the store, which stays closed until a step that opens one.
  case close
  /// Closes the store, if it isn't closed, and opens it again.
  case reopen
  /// The process ends; the next one opens the store.
  case kill
  /// The machine loses its power; the next one opens the store.
  case crash
  /// The call of this kind fails that comes after so many others of it.
  case fail(Fault, after: Int)
  /// So many bytes are left on the disk; nil for any number.
  case space(Int?)
  /// Bits flip on copies of the disk, each of which is opened and read.
  case flip(Int)
  /// A write goes to another place, on a copy of the disk that is then worked with.
  case misdirect
  /// Copies every file, for one of them to come back later.
  case copyFiles
  /// Something happens to a whole file, on a copy of the disk that is then opened and read.
  case spoil(Spoiling)
}

/// What is done in the middle of other work.
package enum Deed: Hashable, Sendable {
  case snapshot
  /// Ends a snapshot, as the operation does.
  case release(Int)
  /// Asks for a keyspace.
  case ask(Int)
  /// A batch, buffered.
  case write([Change])
  case drop(Int)
}

/// What happens to a whole file while nobody has the store open.
package enum Spoiling: String, Hashable, Sendable, CaseIterable {
  /// It ends earlier.
  case cut
  /// From somewhere on it is zeros.
  case zero
  case remove
  /// It is what it was when files were copied.
  case older = "put-back"
}

package struct Change: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case put(length: Int, fill: Int)
    case delete
    case check
  }

  /// Whether the row is what the batch expects it to be depends on what the row is then.
  package enum Wish: String, Hashable, Sendable, CaseIterable {
    case anything, present, absent
    /// The row's own revision, or that there is none.
    case current
    /// A revision that the row doesn't have.
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
  /// A sync that reports success after one that failed, whatever has become of what that one was to make durable. Not
  /// armed by itself: it is what comes of `sync` when the store is opened again by the next process.
  case falseSync = "false-sync"
  case bitFlip = "bit-flip"
  case misdirectedWrite = "misdirected-write"
  case cutFile = "cut-file"
  case zeroedFile = "zeroed-file"
  case removedFile = "removed-file"
  case olderFile = "older-file"

  /// Those that a program arms.
  package static let armed: [Fault] = [.open, .read, .write, .sync, .directorySync, .name, .noSpace, .shortWrite]
}

/// How keys look. Each shape is a trap for an index that keeps no keys.
package enum KeyShape: String, Hashable, Sendable, CaseIterable {
  case random, sequential
  case sharedPrefix = "shared-prefix"
  case longSharedPrefix = "long-shared-prefix"
  case zeros, tuples

  func reference(_ number: Int) -> Reference {
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

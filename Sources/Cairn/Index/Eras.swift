import CCairnPlatform
import Synchronization

/// Decides when memory that readers may still be looking at can be reused.
///
/// A reader pins the current era while it follows addresses. The writer records the current era for memory that it
/// has made unreachable, advances the era, and reuses the memory once no reader pins the recorded era or an earlier
/// one. After Fraser, "Practical lock-freedom", 2004, with one counter and a table of readers.
@safe final class Eras: @unchecked Sendable {
  private static let entryCount = 256
  private static let stride = 8  // words: a cache line each

  private let entries: UnsafeMutablePointer<Atomic<UInt64>>
  private let current: UnsafeMutablePointer<Atomic<UInt64>>
  /// Readers that found no free entry.
  private let overflow = Lock<[UInt64]>([])

  @safe struct Pin {
    fileprivate let entry: UnsafeMutablePointer<Atomic<UInt64>>?
    fileprivate let era: UInt64
  }

  init() {
    let count = (Self.entryCount + 1) * Self.stride
    unsafe entries = unsafe UnsafeMutableRawPointer.allocate(byteCount: count * 8, alignment: 64)
      .bindMemory(to: Atomic<UInt64>.self, capacity: count)
    for index in 0..<count { unsafe (entries + index).initialize(to: Atomic(0)) }
    unsafe current = unsafe entries + Self.entryCount * Self.stride
    unsafe current.pointee.store(1, ordering: .relaxed)
  }

  deinit { unsafe UnsafeMutableRawPointer(entries).deallocate() }

  /// Pins the current era: memory retired from now on is not reused before `unpin`. Pins may nest.
  ///
  /// - Parameter beforeSecondLoad: called between the two loads of the current era, where the writer may advance it.
  @inline(__always)
  func pin(beforeSecondLoad: () -> Void = {}) -> Pin {
    var era = unsafe current.pointee.load(ordering: .sequentiallyConsistent)
    beforeSecondLoad()
    var index = Int((UInt64(cairn_thread_token()) &* 0x9E37_79B9_7F4A_7C15) >> 32)
    for _ in 0..<Self.entryCount {
      let entry = unsafe entries + (index % Self.entryCount) * Self.stride
      if unsafe entry.pointee.compareExchange(expected: 0, desired: era, ordering: .sequentiallyConsistent).exchanged {
        // The writer may have advanced the era and read the entries before the pin was visible.
        while true {
          let now = unsafe current.pointee.load(ordering: .sequentiallyConsistent)
          if now == era { return unsafe Pin(entry: entry, era: era) }
          era = now
          unsafe entry.pointee.store(era, ordering: .sequentiallyConsistent)
        }
      }
      index &+= 1
    }
    return overflow.withLock { pinned in
      let era = unsafe current.pointee.load(ordering: .sequentiallyConsistent)
      pinned.append(era)
      return unsafe Pin(entry: nil, era: era)
    }
  }

  @inline(__always)
  func unpin(_ pin: Pin) {
    if let entry = unsafe pin.entry {
      unsafe entry.pointee.store(0, ordering: .releasing)
    } else {
      overflow.withLock { pinned in
        if let index = pinned.firstIndex(of: pin.era) { pinned.swapAt(index, pinned.count - 1) }
        pinned.removeLast()
      }
    }
  }

  // The writer's:

  var now: UInt64 { unsafe current.pointee.load(ordering: .relaxed) }

  func advance() { unsafe current.pointee.store(now + 1, ordering: .sequentiallyConsistent) }

  /// Memory retired in an earlier era than this is out of every reader's reach.
  func oldestPinned() -> UInt64 {
    var oldest = now
    for index in 0..<Self.entryCount {
      let era = unsafe entries[index * Self.stride].load(ordering: .sequentiallyConsistent)
      if era != 0, era < oldest { oldest = era }
    }
    return overflow.withLock { pinned in pinned.reduce(oldest, min) }
  }
}

import CCairnPlatform
import Synchronization

/// Decides when memory that readers may still be looking at can be reused.
///
/// A reader pins the current epoch while it follows addresses. The writer records the current epoch for memory that it
/// has made unreachable, advances the epoch, and reuses the memory once no reader pins the recorded epoch or an earlier
/// one. After Fraser, "Practical lock-freedom", 2004, with one counter and a table of readers.
@safe final class Epochs: @unchecked Sendable {
  private static let slotCount = 256
  private static let stride = 8  // words: a cache line each

  private let slots: UnsafeMutablePointer<Atomic<UInt64>>
  private let current: UnsafeMutablePointer<Atomic<UInt64>>
  /// Readers that found no free slot.
  private let overflow = Lock<[UInt64]>([])

  @safe struct Pin {
    fileprivate let slot: UnsafeMutablePointer<Atomic<UInt64>>?
    fileprivate let epoch: UInt64
  }

  init() {
    let count = (Self.slotCount + 1) * Self.stride
    unsafe slots = unsafe UnsafeMutableRawPointer.allocate(byteCount: count * 8, alignment: 64)
      .bindMemory(to: Atomic<UInt64>.self, capacity: count)
    for index in 0..<count { unsafe (slots + index).initialize(to: Atomic(0)) }
    unsafe current = unsafe slots + Self.slotCount * Self.stride
    unsafe current.pointee.store(1, ordering: .relaxed)
  }

  deinit { unsafe UnsafeMutableRawPointer(slots).deallocate() }

  /// Pins the current epoch: memory retired from now on is not reused before `unpin`. Pins may nest.
  ///
  /// - Parameter beforeSecondLook: called between the two loads of the current epoch, where the writer may advance it.
  @inline(__always)
  func pin(beforeSecondLook: () -> Void = {}) -> Pin {
    var epoch = unsafe current.pointee.load(ordering: .sequentiallyConsistent)
    beforeSecondLook()
    var index = Int((UInt64(cairn_thread_token()) &* 0x9E37_79B9_7F4A_7C15) >> 32)
    for _ in 0..<Self.slotCount {
      let slot = unsafe slots + (index % Self.slotCount) * Self.stride
      if unsafe slot.pointee.compareExchange(expected: 0, desired: epoch, ordering: .sequentiallyConsistent).exchanged {
        // The writer may have advanced the epoch and read the slots before the pin was visible.
        while true {
          let now = unsafe current.pointee.load(ordering: .sequentiallyConsistent)
          if now == epoch { return unsafe Pin(slot: slot, epoch: epoch) }
          epoch = now
          unsafe slot.pointee.store(epoch, ordering: .sequentiallyConsistent)
        }
      }
      index &+= 1
    }
    return overflow.withLock { pinned in
      let epoch = unsafe current.pointee.load(ordering: .sequentiallyConsistent)
      pinned.append(epoch)
      return unsafe Pin(slot: nil, epoch: epoch)
    }
  }

  @inline(__always)
  func unpin(_ pin: Pin) {
    if let slot = unsafe pin.slot {
      unsafe slot.pointee.store(0, ordering: .releasing)
    } else {
      overflow.withLock { pinned in
        if let index = pinned.firstIndex(of: pin.epoch) { pinned.swapAt(index, pinned.count - 1) }
        pinned.removeLast()
      }
    }
  }

  // The writer's:

  var now: UInt64 { unsafe current.pointee.load(ordering: .relaxed) }

  func advance() { unsafe current.pointee.store(now + 1, ordering: .sequentiallyConsistent) }

  /// Memory retired in an earlier epoch than this is out of every reader's reach.
  func oldestPinned() -> UInt64 {
    var oldest = now
    for index in 0..<Self.slotCount {
      let epoch = unsafe slots[index * Self.stride].load(ordering: .sequentiallyConsistent)
      if epoch != 0, epoch < oldest { oldest = epoch }
    }
    return overflow.withLock { pinned in pinned.reduce(oldest, min) }
  }
}

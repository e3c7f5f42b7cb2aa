import CCairnPlatform
import Synchronization

/// When memory that readers may still be looking at can be used again.
///
/// A reader pins the present epoch while it follows addresses; the writer retires what it has made unreachable together with the
/// present epoch, advances the epoch, and reuses the memory once no reader pins that epoch or an earlier one. Fraser,
/// "Practical lock-freedom", 2004, with one counter and a table of readers.
final class Epochs: @unchecked Sendable {
  private static let slotCount = 256
  private static let stride = 8  // words: a cache line each

  private let slots: UnsafeMutablePointer<Atomic<UInt64>>
  private let current: UnsafeMutablePointer<Atomic<UInt64>>
  /// Readers that found no free slot.
  private let overflow = Mutex<[UInt64]>([])

  struct Pin {
    fileprivate let slot: UnsafeMutablePointer<Atomic<UInt64>>?
    fileprivate let epoch: UInt64
  }

  init() {
    let count = (Self.slotCount + 1) * Self.stride
    slots = UnsafeMutableRawPointer.allocate(byteCount: count * 8, alignment: 64)
      .bindMemory(to: Atomic<UInt64>.self, capacity: count)
    for index in 0..<count { (slots + index).initialize(to: Atomic(0)) }
    current = slots + Self.slotCount * Self.stride
    current.pointee.store(1, ordering: .relaxed)
  }

  deinit { UnsafeMutableRawPointer(slots).deallocate() }

  /// Nothing retired from now on is reused before `unpin`. Pins may nest.
  @inline(__always)
  func pin() -> Pin {
    var epoch = current.pointee.load(ordering: .sequentiallyConsistent)
    var index = Int((UInt64(cairn_thread_token()) &* 0x9E37_79B9_7F4A_7C15) >> 32)
    for _ in 0..<Self.slotCount {
      let slot = slots + (index % Self.slotCount) * Self.stride
      if slot.pointee.compareExchange(expected: 0, desired: epoch, ordering: .sequentiallyConsistent).exchanged {
        // The writer may have advanced and looked at the slots before the pin was to be seen.
        while true {
          let now = current.pointee.load(ordering: .sequentiallyConsistent)
          if now == epoch { return Pin(slot: slot, epoch: epoch) }
          epoch = now
          slot.pointee.store(epoch, ordering: .sequentiallyConsistent)
        }
      }
      index &+= 1
    }
    return overflow.withLock { pinned in
      let epoch = current.pointee.load(ordering: .sequentiallyConsistent)
      pinned.append(epoch)
      return Pin(slot: nil, epoch: epoch)
    }
  }

  @inline(__always)
  func unpin(_ pin: Pin) {
    if let slot = pin.slot {
      slot.pointee.store(0, ordering: .releasing)
    } else {
      overflow.withLock { pinned in
        if let index = pinned.firstIndex(of: pin.epoch) { pinned.swapAt(index, pinned.count - 1) }
        pinned.removeLast()
      }
    }
  }

  // The writer's:

  var now: UInt64 { current.pointee.load(ordering: .relaxed) }

  func advance() { current.pointee.store(now + 1, ordering: .sequentiallyConsistent) }

  /// Everything retired in an earlier epoch than this is out of every reader's reach.
  func oldestPinned() -> UInt64 {
    var oldest = now
    for index in 0..<Self.slotCount {
      let epoch = slots[index * Self.stride].load(ordering: .sequentiallyConsistent)
      if epoch != 0, epoch < oldest { oldest = epoch }
    }
    return overflow.withLock { pinned in pinned.reduce(oldest, min) }
  }
}

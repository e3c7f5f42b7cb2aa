import CObjectLifetime
import Foundation

/// The objects of a context by their identifiers, one for each, and the link from these objects to the context. Retains
/// neither the objects nor the context.
///
/// Objects are looked up on the queue of the context, and freed on any thread: an object leaves the registry before its
/// memory is freed. Weak references would do the same, but make every use of an object slower.
final class ObjectRegistry: @unchecked Sendable {
  /// Nil once the context is gone, or was reset.
  private(set) weak var context: NSManagedObjectContext?
  /// Who observes the objects.
  let observation = ObjectObservation()
  private let queue: ContextQueue
  private let lock = NSLock()
  private var hasEnded = false
  private var entries: [IDKey: Entry] = [:]
  /// The permanent identifiers of objects that were inserted here, by their temporary ones; `temporary` is the inverse.
  private var permanent: [IDKey: NSManagedObjectID] = [:]
  private var temporary: [IDKey: NSManagedObjectID] = [:]
  private var freed: [NSManagedObjectID] = []
  private var batches = FetchBatches()
  /// The versions of rows that parents have saved one after the other since they were read here, from the first that
  /// was replaced to the last that was saved.
  private var savedByParents: [IDKey: ClosedRange<UInt64>] = [:]

  init(_ queue: ContextQueue) { self.queue = queue }

  /// Makes the registry that of a context.
  func begin(_ context: NSManagedObjectContext) { self.context = context }

  /// Empties the registry, whose context was reset or is gone: its objects are in no context any more.
  func end() {
    context = nil
    lock.withLock {
      hasEnded = true
      (entries, permanent, temporary, savedByParents, batches) = ([:], [:], [:], [:], FetchBatches())
    }
  }

  /// Whether the caller is on the queue of the context. Does not retain the context.
  var isOwned: Bool { queue.isOwned }

  // MARK: Finding

  /// The object with an identifier, which may be the temporary one that it had before.
  subscript(id: NSManagedObjectID) -> NSManagedObject? {
    lock.withLock {
      let key = IDKey(id)
      if let entry = entries[key] { return entry.object }
      guard !permanent.isEmpty, let id = permanent[key] else { return nil }
      return entries[IDKey(id)]?.object
    }
  }

  /// Whether an object may be found by an identifier that it had before it was saved.
  var hasFormerIdentifiers: Bool { lock.withLock { !permanent.isEmpty } }

  /// All objects that are in memory.
  var objects: [NSManagedObject] { lock.withLock { entries.values.compactMap(\.object) } }

  // MARK: Changing

  func add(_ object: NSManagedObject) {
    lock.withLock { entries[IDKey(object.objectID)] = Entry(object) }
  }

  /// Reserves space for `count` more objects.
  func reserve(_ count: Int) { lock.withLock { entries.reserveCapacity(entries.count + count) } }

  /// Registers an object under its new, permanent identifier; the temporary one finds it, too.
  func rename(_ object: NSManagedObject, from old: NSManagedObjectID) {
    lock.withLock {
      entries[IDKey(old)] = nil
      entries[IDKey(object.objectID)] = Entry(object)
      permanent[IDKey(old)] = object.objectID
      temporary[IDKey(object.objectID)] = old
    }
  }

  func remove(_ id: NSManagedObjectID) { lock.withLock { forget(id) } }

  private func forget(_ id: NSManagedObjectID) {
    entries[IDKey(id)] = nil
    if !savedByParents.isEmpty { savedByParents[IDKey(id)] = nil }
    if !temporary.isEmpty, let old = temporary.removeValue(forKey: IDKey(id)) { permanent[IDKey(old)] = nil }
  }

  // MARK: Batches

  /// Makes a batch of faults, which leave the batches that they were in, and of the key paths that are read with them.
  func formBatch(of faults: ArraySlice<NSManagedObject>, keyPaths: [String]) {
    lock.withLock {
      let number = batches.add(faults.map(\.objectID), keyPaths: keyPaths)
      for fault in faults { batches.leave(fault.join(batch: number)) }
    }
  }

  /// The identifiers of the objects of a fault's batch and its key paths. The batch is forgotten.
  func takeBatch(of fault: NSManagedObject) -> (ids: [NSManagedObjectID], keyPaths: [String]) {
    lock.withLock { batches.take(fault.join(batch: 0)) }
  }

  // MARK: Saves of parents

  /// Notes the versions of rows before and after a parent has saved them. May be called on any thread.
  func noteSaveByParent(_ saves: [(id: NSManagedObjectID, versions: ClosedRange<UInt64>)]) {
    lock.withLock {
      for (id, versions) in saves where entries[IDKey(id)] != nil {
        let former = savedByParents[IDKey(id)]
        let first = former?.upperBound == versions.lowerBound ? former?.lowerBound : nil
        savedByParents[IDKey(id)] = (first ?? versions.lowerBound)...versions.upperBound
      }
    }
  }

  /// The version of a row, or that with which parents have replaced it, if nobody else has saved the row between.
  func version(of id: NSManagedObjectID, startingAt version: UInt64) -> UInt64 {
    lock.withLock {
      guard let versions = savedByParents[IDKey(id)], versions.contains(version) else { return version }
      return versions.upperBound
    }
  }

  // MARK: Freed objects

  /// Call this when the object is deinitialised. Another object may have taken its identifier already.
  func objectIsFreed(_ object: NSManagedObject) {
    let id = object.objectID
    if object.isObserved { observation.forget(ObjectIdentifier(object)) }
    lock.withLock {
      guard !hasEnded else { return }
      if entries[IDKey(id)]?.isOf(object) == true { forget(id) }
      batches.leave(object.reading.batch)
      freed.append(id)
    }
  }

  /// The identifiers of the objects freed since the last call.
  func takeFreed() -> [NSManagedObjectID] {
    lock.withLock {
      guard !freed.isEmpty else { return [] }
      defer { freed = [] }
      return freed
    }
  }
}

/// An unretained pointer to an object whose memory is not freed yet, though its deinitialisation may have begun.
@safe
private struct Entry {
  private let address: UnsafeMutableRawPointer

  init(_ object: NSManagedObject) { unsafe address = Unmanaged.passUnretained(object).toOpaque() }

  /// Nil if its deinitialisation has begun.
  var object: NSManagedObject? {
    unsafe swift_tryRetain(address).map { unsafe Unmanaged.fromOpaque($0).takeRetainedValue() }
  }

  func isOf(_ object: NSManagedObject) -> Bool {
    unsafe address == Unmanaged.passUnretained(object).toOpaque()
  }
}

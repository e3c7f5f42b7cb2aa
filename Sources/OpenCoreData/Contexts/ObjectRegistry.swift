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
  private let contents = Locked(RegistryContents())

  init(_ queue: ContextQueue) { self.queue = queue }

  /// Makes the registry that of a context.
  func begin(_ context: NSManagedObjectContext) { self.context = context }

  /// Empties the registry, whose context was reset or is gone: its objects are in no context any more.
  func end() {
    context = nil
    contents.withLock {
      $0 = RegistryContents()
      $0.hasEnded = true
    }
  }

  /// Whether the caller is on the queue of the context. Does not retain the context.
  var isOwned: Bool { queue.isOwned }

  // MARK: Finding

  /// The object with an identifier, which may be the temporary one that it had before.
  subscript(id: NSManagedObjectID) -> NSManagedObject? { contents.withLock { $0.object(id) } }

  /// Whether an object may be found by an identifier that it had before it was saved.
  var hasFormerIdentifiers: Bool { contents.withLock { !$0.permanent.isEmpty } }

  /// All objects that are in memory.
  var objects: [NSManagedObject] { contents.withLock { $0.table.objects } }

  // MARK: Changing

  func add(_ object: NSManagedObject) { contents.withLock { $0.table.insert(object) } }

  /// Reserves space for `count` more objects.
  func reserve(_ count: Int) { contents.withLock { $0.table.reserve(count) } }

  /// Gives an object its permanent identifier; the temporary one finds it, too. The identifier changes within the lock,
  /// since other threads may look for objects.
  func rename(_ object: NSManagedObject, to new: NSManagedObjectID) {
    let old = object.objectID
    contents.withLock {
      $0.table.remove(object, with: old)
      object.identifier = new
      $0.table.insert(object)
      $0.permanent[IDKey(old)] = new
      $0.temporary[IDKey(new)] = old
    }
  }

  func remove(_ id: NSManagedObjectID) {
    contents.withLock {
      $0.table.remove(id)
      $0.forgetFormer(IDKey(id))
    }
  }

  // MARK: Batches

  /// Makes a batch of faults, which leave the batches that they were in, and of the key paths that are read with them.
  func formBatch(of faults: ArraySlice<NSManagedObject>, keyPaths: [String]) {
    contents.withLock { contents in
      let number = contents.batches.add(faults.map(\.objectID), keyPaths: keyPaths)
      for fault in faults { contents.batches.leave(fault.join(batch: number)) }
    }
  }

  /// The identifiers of the objects of a fault's batch and its key paths. The batch is forgotten.
  func takeBatch(of fault: NSManagedObject) -> (ids: [NSManagedObjectID], keyPaths: [String]) {
    contents.withLock { $0.batches.take(fault.join(batch: 0)) }
  }

  // MARK: Saves of parents

  /// Notes the versions of rows before and after a parent has saved them. May be called on any thread.
  func noteSaveByParent(_ saves: [(id: NSManagedObjectID, versions: ClosedRange<UInt64>)]) {
    contents.withLock { contents in
      for (id, versions) in saves where contents.table.contains(id) {
        let former = contents.savedByParents[IDKey(id)]
        let first = former?.upperBound == versions.lowerBound ? former?.lowerBound : nil
        contents.savedByParents[IDKey(id)] = (first ?? versions.lowerBound)...versions.upperBound
      }
    }
  }

  /// The version of a row, or that with which parents have replaced it, if nobody else has saved the row between.
  func version(of id: NSManagedObjectID, startingAt version: UInt64) -> UInt64 {
    contents.withLock { contents in
      guard let versions = contents.savedByParents[IDKey(id)], versions.contains(version) else { return version }
      return versions.upperBound
    }
  }

  // MARK: Freed objects

  /// Call this when the object is deinitialised. Another object may have taken its identifier already.
  func objectIsFreed(_ object: NSManagedObject) {
    if object.isObserved { observation.forget(ObjectIdentifier(object)) }
    contents.withLock { $0.noteFreed(object) }
  }

  /// The identifiers of the objects freed since they were last taken.
  func takeFreed() -> [NSManagedObjectID] { contents.withLock { $0.takeFreed() } }

  /// As ``takeFreed()``, if there are many or a certain one may be among them; otherwise none.
  func takeFreed(ifManyOr id: NSManagedObjectID) -> [NSManagedObjectID] {
    contents.withLock { contents in
      let areMany = contents.freed.count >= RegistryContents.manyFreed
      return areMany || contents.freedHashes.contains(id.cachedHash) ? contents.takeFreed() : []
    }
  }
}

/// What a registry knows, apart from its context.
private struct RegistryContents {
  var hasEnded = false
  var table = ObjectTable()
  /// The permanent identifiers of objects that were inserted here, by their temporary ones; `temporary` is the inverse.
  var permanent: [IDKey: NSManagedObjectID] = [:]
  var temporary: [IDKey: NSManagedObjectID] = [:]
  private(set) var freed: [NSManagedObjectID] = []
  /// The hashes of the freed identifiers, which are compared without reading these.
  private(set) var freedHashes: [UInt32] = []
  /// How many freed objects a store is told of at once while objects are made one by one.
  static let manyFreed = 32
  var batches = FetchBatches()
  /// The versions of rows that parents have saved one after the other since they were read here, from the first that
  /// was replaced to the last that was saved.
  var savedByParents: [IDKey: ClosedRange<UInt64>] = [:]

  func object(_ id: NSManagedObjectID) -> NSManagedObject? {
    if let object = table[id] { return object }
    guard !permanent.isEmpty, let id = permanent[IDKey(id)] else { return nil }
    return table[id]
  }

  mutating func takeFreed() -> [NSManagedObjectID] {
    guard !freed.isEmpty else { return [] }
    defer { freed = [] }
    freedHashes.removeAll(keepingCapacity: freed.count <= Self.manyFreed)
    return freed
  }

  /// Forgets the identifier and the versions that an object had before.
  mutating func forgetFormer(_ key: IDKey) {
    if !savedByParents.isEmpty { savedByParents[key] = nil }
    if !temporary.isEmpty, let old = temporary.removeValue(forKey: key) { permanent[IDKey(old)] = nil }
  }

  mutating func noteFreed(_ object: NSManagedObject) {
    guard !hasEnded else { return }
    if table.remove(object, with: object.objectID) { forgetFormer(IDKey(object.objectID)) }
    batches.leave(object.reading.batch)
    freed.append(object.objectID)
    freedHashes.append(object.objectID.cachedHash)
  }
}

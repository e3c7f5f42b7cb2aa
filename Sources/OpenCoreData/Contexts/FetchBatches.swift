/// The batches of faults that are to be read together, by their numbers. A batch is forgotten when one of its faults
/// fires, or when all of them are freed.
struct FetchBatches {
  private struct Batch {
    let ids: [NSManagedObjectID]
    let keyPaths: [String]
    /// How many of its objects are in memory and in no other batch.
    var count: Int
  }

  private var batches: [UInt32: Batch] = [:]
  private var last: UInt32 = 0

  init() {}

  /// Makes a batch of objects and of the key paths that are read with them, and returns its number, which is not 0.
  mutating func add(_ ids: [NSManagedObjectID], keyPaths: [String]) -> UInt32 {
    repeat { last = last == .max ? 1 : last + 1 } while batches[last] != nil
    batches[last] = Batch(ids: ids, keyPaths: keyPaths, count: ids.count)
    return last
  }

  /// Forgets a batch and returns its objects and its key paths; none if it is forgotten already.
  mutating func take(_ number: UInt32) -> (ids: [NSManagedObjectID], keyPaths: [String]) {
    batches.removeValue(forKey: number).map { ($0.ids, $0.keyPaths) } ?? ([], [])
  }

  /// An object has left a batch.
  mutating func leave(_ number: UInt32) {
    guard number != 0, let count = batches[number]?.count else { return }
    if count > 1 { batches[number]?.count = count - 1 } else { batches[number] = nil }
  }
}

extension NSManagedObjectContext {
  /// Has the rows of fetched faults read in batches, each with the rows along key paths.
  func formBatches(of objects: [NSManagedObject], size: Int, prefetching keyPaths: [String]) {
    let faults = objects.filter { $0.isFault && !$0.hasChanges }
    var start = 0
    while start < faults.count {
      let end = size < faults.count - start ? start + size : faults.count
      registry.formBatch(of: faults[start..<end], keyPaths: keyPaths)
      start = end
    }
  }

  /// Reads the rows of those objects that are faults, while nobody else saves through the coordinator. Objects without a
  /// row stay faults.
  ///
  /// - Throws: any other error of a store.
  func realise(together objects: [NSManagedObject]) throws {
    let faults = objects.filter { $0.isFault && $0.registry === registry }
    guard !faults.isEmpty, let coordinator = persistentStoreCoordinator else { return }
    var realised: [NSManagedObject] = []
    defer { for object in realised { object.awakeFromFetch(in: self) } }
    try coordinator.prepareValues(of: faults.map(\.objectID), self)
    try withQueuesOfAncestors {
      try coordinator.withStoreLock {
        for object in faults {
          do {
            try object.takeRow(self)
            realised.append(object)
          } catch  where StoreCalls.isMissing(error) {
            continue
          }
        }
      }
    }
  }
}

extension NSManagedObject {
  /// Reads the rows of all objects of the fault's batch, if it is in one, and those along the key paths of the batch.
  final func realiseBatch(_ context: NSManagedObjectContext) throws {
    guard reading.batch != 0 else { return }
    let (ids, keyPaths) = context.registry.takeBatch(of: self)
    let objects = ids.compactMap { context.registry[$0] }
    try context.realise(together: objects)
    try context.throwingErrorsOfFaults { try context.prefetch(keyPaths, of: objects) }
  }
}

/// The results of a fetch whose objects are made when they are asked for: for results that are too many to be in memory
/// at once.
///
/// The collection has the identifiers of the results, at 8 to 10 bytes each if they are whole numbers, as in stores on
/// Cairn, and the objects of one batch. Asking for an object of another batch lets go of the former objects, which leave
/// memory unless somebody else refers to them or they have changes. So walk through the collection in its order, or
/// batch by batch.
///
/// Which objects are in the collection was settled by the fetch; an object that has been deleted since is a fault whose
/// row is gone. Use it on the queue of its context.
public struct FetchedCollection<Element: NSManagedObject>: RandomAccessCollection {
  private let context: NSManagedObjectContext
  private let ids: PackedIDs
  private let batchSize: Int
  private let prepare: ([NSManagedObject]) throws -> Void
  private let batch = Batch()

  private final class Batch {
    var start = 0
    var objects: [NSManagedObject] = []
    /// The registry of the objects, which a reset of the context replaces.
    var registry: ObjectRegistry?
  }

  init(
    _ context: NSManagedObjectContext, _ ids: PackedIDs, batchSize: Int,
    prepare: @escaping ([NSManagedObject]) throws -> Void
  ) {
    self.context = context
    self.ids = ids
    self.batchSize = batchSize
    self.prepare = prepare
  }

  /// 0.
  public var startIndex: Int { 0 }

  /// The number of results.
  public var endIndex: Int { ids.count }

  /// An object. The rows of its batch are read together when one of its faults fires.
  ///
  /// - Complexity: O(batch size) for the first object of another batch than that of the last call; otherwise O(1).
  public subscript(position: Int) -> Element {
    context.checkQueue()
    require(indices.contains(position), "The position \(position) is outside of a collection of \(count) results.")
    if batch.registry !== context.registry || !batch.objects.indices.contains(position - batch.start) {
      readBatch(of: position)
    }
    let object = batch.objects[position - batch.start]
    guard let element = object as? Element else {
      fatalError("A fetch of \(Element.self) has found \(type(of: object)): they do not fit.")
    }
    return element
  }

  /// The identifier of the object at a position. Makes no object.
  public func objectID(at position: Int) -> NSManagedObjectID {
    require(indices.contains(position), "The position \(position) is outside of a collection of \(count) results.")
    return ids[position]
  }

  private func readBatch(of position: Int) {
    batch.objects = []
    context.forgetFreed()
    batch.registry = context.registry
    batch.start = position - position % batchSize
    let end = Swift.min(count, batch.start + batchSize)
    batch.objects = context.objects(with: (batch.start..<end).map { ids[$0] })
    do { try prepare(batch.objects) } catch { context.handleUnreadable(batch.objects[position - batch.start], error) }
  }
}

extension NSManagedObjectContext {
  /// The number of objects that a collection reads together, if its request has no batch size.
  private static let collectionBatchSize = 100

  /// Fetches objects as a collection that makes them when they are asked for.
  ///
  /// The request's `fetchBatchSize` says how many objects are made and read together; 100 if it is 0. A fetch in the
  /// order of an index, or without an order, takes no more memory than the collection; any other order keeps the sort
  /// keys of all results while the fetch runs. If unsaved changes concern the request, and in a child, all objects are
  /// made once.
  ///
  /// - Throws: ``FetchRequestError`` for an invalid request, or one for anything but objects; any error of a store.
  /// - Complexity: that of the fetch.
  public func fetchCollection<T: NSManagedObject>(_ request: NSFetchRequest<T>) throws -> FetchedCollection<T> {
    checkQueue()
    let size = request.fetchBatchSize > 0 ? request.fetchBatchSize : Self.collectionBatchSize
    let batches = NSFetchRequest<NSManagedObject>(copying: request)
    batches.fetchBatchSize = size
    let ids = try throwingErrorsOfFaults { try packedIDs(of: request) }
    return FetchedCollection(self, ids, batchSize: size) { [unowned self] in try prepare($0, for: batches) }
  }
}

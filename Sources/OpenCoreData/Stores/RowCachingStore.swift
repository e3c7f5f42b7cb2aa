/// A store that keeps rows in memory, and is told when some of them may be out of date.
///
/// A merge names objects that somebody else has saved: another coordinator, another process, a server. The context
/// reads their rows again, and a store that answered with the rows that it had read before would hide the changes. A
/// store that caches no rows need not conform. Apple's Core Data has no such protocol; there, a store can only look at
/// the context's ``NSManagedObjectContext/stalenessInterval``.
public protocol RowCachingStore: NSIncrementalStore {
  /// Forgets the rows of these objects, so that the next request for their values reads what is stored.
  ///
  /// Called before a context merges changes that were not saved through its coordinator, for all inserted, updated and
  /// deleted objects of this store that the merge names, whether a context uses them or not. It must not call the
  /// context. As every method of a store, it is called by one thread at a time.
  func rowsMayBeStale(_ objectIDs: [NSManagedObjectID])
}

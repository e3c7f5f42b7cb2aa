/// A store that several threads may read at once, also while another thread saves.
///
/// A coordinator whose stores all conform calls these methods without its store lock: `execute` with a fetch request,
/// `newValuesForObject`, `newValue(forRelationship:)`, `obtainPermanentIDs`, and those that register and unregister
/// objects. A fetch answers with rows of one moment; if it wants no faults, the rows come with its answer, by
/// `object(with:realisedBy:)`. All other calls still come one at a time, and none comes while stores are added or
/// removed.
package protocol ConcurrentStore: NSIncrementalStore {}

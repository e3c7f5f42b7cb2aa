/// Whether a fetch asks the service, and whether it waits for the answer.
///
/// A fetch has its own freshness (`NSFetchRequest.freshness`), or else what ``RemoteService/freshness(of:)`` says of
/// the entity: these are the limits of the application, and no answer changes them. Without either, a list is read
/// again behind the fetch after the time for which the service has said that it stays fresh (``RemotePage/freshFor``),
/// and if the service has said nothing, as ``standard`` says.
public enum RemoteFreshness: Hashable, Sendable {
  /// The fetch reads what the store has.
  case cached
  /// The fetch reads what the store has. If the list that answers it was last read longer ago than so many seconds, or
  /// never, it is read again behind the fetch.
  case refreshing(ifOlderThan: Double)
  /// As `refreshing`, but the fetch waits for the answer, for so many seconds at most, if the list is too old.
  case waiting(ifOlderThan: Double, timeLimit: Double)
  /// The list is always read again, and the fetch waits for that, for so many seconds at most.
  case fromService(timeLimit: Double)

  /// What the store has, refreshed behind the fetch if it is older than five minutes.
  public static let standard = RemoteFreshness.refreshing(ifOlderThan: 300)
}

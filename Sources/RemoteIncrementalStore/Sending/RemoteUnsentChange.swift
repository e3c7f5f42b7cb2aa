public import CoreData

/// A change that waits to be sent, or that was kept aside.
public struct RemoteUnsentChange: Sendable, Identifiable {
  /// Why a change has not been sent.
  public enum State: Hashable, Sendable {
    /// It will be sent.
    case waiting
    /// It was sent, and the answer has not come. It is sent again if that is safe.
    case sent
    /// The service has refused it for good, for this reason.
    case refused(String)
    /// It was sent, the answer was lost, and it may not be repeated.
    case unknown
  }

  /// A number that no other change of the store has. Later changes have higher numbers.
  public let id: Int64
  /// The object.
  public let objectID: NSManagedObjectID
  /// What the service calls the object; nil if it does not know the object.
  public let identifier: RemoteIdentifier?
  /// What happened to the object.
  public let kind: RemoteChange.Kind
  /// Why it has not been sent.
  public let state: State
  /// How often it was sent.
  public let attempts: Int
  /// The changed properties.
  public let properties: Set<String>
}

/// What happens if an object was changed here and at the service.
public enum RemoteConflictPolicy: Sendable {
  /// The service's values replace those that were changed here.
  case serviceWins
  /// The values that were changed here are sent again.
  case applicationWins
  /// A property that was changed on both sides gets the service's value. One that was changed only here is sent again.
  case byProperty
  /// A closure decides. It is called on a thread of the store, and must not use the store.
  case custom(@Sendable (RemoteConflict) -> RemoteResolution)
}

/// An object that was changed here and at the service.
public struct RemoteConflict: Sendable {
  /// What the service calls the object.
  public let identifier: RemoteIdentifier
  /// Whether the object was deleted here.
  public let isDeletion: Bool
  /// The properties that were changed here, before the change; a property is missing if its value was not known.
  public let base: [String: RemoteValue]
  /// The properties that were changed here, after the change.
  public let ours: [String: RemoteValue]
  /// The object as the service has it.
  public let theirs: [String: RemoteValue]
}

/// What a closure decides about a conflict.
public enum RemoteResolution: Hashable, Sendable {
  /// The service's values replace those that were changed here.
  case takeTheirs
  /// The values of these properties, or the deletion, are sent again; others get the service's values.
  case keepOurs(Set<String>)
}

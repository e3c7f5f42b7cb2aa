/// A call to a store. Objects are written as entity and reference: `Person/1`.
enum StoreCall: Hashable {
  case loadMetadata
  /// A fetch of objects of this entity.
  case fetch(String)
  case save(inserted: [String] = [], updated: [String] = [], deleted: [String] = [], locked: [String] = [])
  /// A save request without collections.
  case saveMetadata
  /// A request that is neither a fetch nor a save.
  case other
  case values(String)
  case relationship(String, of: String)
  /// A request for identifiers of new objects of these entities.
  case permanentIDs([String])
  case register([String])
  case unregister([String])
  case willRemove

  var method: StoreMethod? {
    switch self {
    case .loadMetadata: .loadMetadata
    case .fetch: .fetch
    case .save, .saveMetadata: .save
    case .values: .values
    case .relationship: .relationship
    case .permanentIDs: .permanentIDs
    case .register, .unregister, .willRemove, .other: nil
    }
  }
}

/// The methods that a store can refuse.
enum StoreMethod: CaseIterable {
  case loadMetadata, fetch, save, values, relationship, permanentIDs
}

/// The error of a method that a store was told to refuse.
struct Refusal: Error, Equatable {
  let method: StoreMethod
}

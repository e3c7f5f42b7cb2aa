public import Foundation

/// A property whose value is the result of a request that is executed when the property is first read. The fetched
/// objects are not connected with the object by a relationship.
///
/// The predicate may refer to the object by `$FETCH_SOURCE` and to the property by `$FETCHED_PROPERTY`.
open class NSFetchedPropertyDescription: NSPropertyDescription {
  /// The request that fetches the value. It does not retain its entity; the model does.
  open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
    willSet { willChange() }
    didSet { fetchRequest?.becomePartOfEntity() }
  }

  /// A fetched property without name and request.
  public override init() { super.init() }

  init(copying other: NSFetchedPropertyDescription) {
    fetchRequest = other.fetchRequest.map { NSFetchRequest(copying: $0) }
    super.init(copying: other)
    fetchRequest?.becomePartOfEntity()
  }

  override func freeze() {
    super.freeze()
    fetchRequest?.freeze()
  }

  open override func copy(with zone: NSZone? = nil) -> Any { NSFetchedPropertyDescription(copying: self) }

  override func says(theSameAs other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSFetchedPropertyDescription, super.says(theSameAs: other) else { return false }
    return switch (fetchRequest, other.fetchRequest) {
    case (nil, nil): true
    case (let own?, let others?): own.asks(theSameAs: others)
    default: false
    }
  }
}

public import Foundation

/// Which objects to fetch, in what order, how many, and what of them.
///
/// A request that is a template of a model in use cannot be changed; change a copy.
///
/// `ResultType` is what the caller expects. It is not constrained to ``NSFetchRequestResult``, because off Apple's
/// platforms `any NSFetchRequestResult` would not satisfy that; for the same reason a request for one type cannot be
/// cast to a request for another.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, NSCopying, Freezable {
  /// Whose objects to fetch; with a request made from a name, nil until it is executed.
  open var entity: NSEntityDescription? {
    get { keptEntity ?? knownEntity }
    set {
      willChange()
      knownEntity = newValue
      keptEntity = isPartOfEntity ? nil : newValue
    }
  }

  /// What an object must satisfy; nil for all objects.
  ///
  /// A compound that was made from parts is replaced by an equal one that knows its format and its equals.
  open var predicate: NSPredicate? {
    willSet { willChange() }
    didSet { predicate = predicate?.adopted }
  }

  /// The order of the results; nil for none in particular.
  open var sortDescriptors: [NSSortDescriptor]? { willSet { willChange() } }

  /// The largest number of results; 0 for all.
  open var fetchLimit = 0 { willSet { willChange() } }

  /// How many of the first results to leave out.
  open var fetchOffset = 0 { willSet { willChange() } }

  /// How many objects to load at a time while the result is walked; 0 for all at once.
  open var fetchBatchSize = 0 { willSet { willChange() } }

  /// What the results are.
  open var resultType = NSFetchRequestResultType.managedObjectResultType { willSet { willChange() } }

  /// Whether objects of subentities are fetched too; true unless set.
  open var includesSubentities = true { willSet { willChange() } }

  /// Whether changes that are not saved yet are taken into account; true unless set.
  open var includesPendingChanges = true { willSet { willChange() } }

  /// Whether the values of the objects are loaded along with them; true unless set.
  open var includesPropertyValues = true { willSet { willChange() } }

  /// Whether the objects wait with their values until one is asked for; true unless set.
  open var returnsObjectsAsFaults = true { willSet { willChange() } }

  /// Whether objects in memory get the values that were fetched.
  open var shouldRefreshRefetchedObjects = false { willSet { willChange() } }

  /// The relationships whose objects are loaded along.
  open var relationshipKeyPathsForPrefetching: [String]? { willSet { willChange() } }

  /// What the dictionaries hold: names, attributes, to-one relationships, and ``NSExpressionDescription``s.
  open var propertiesToFetch: [Any]? { willSet { willChange() } }

  /// By which of them the dictionaries are grouped.
  open var propertiesToGroupBy: [Any]? { willSet { willChange() } }

  /// What a group must satisfy.
  open var havingPredicate: NSPredicate? {
    willSet { willChange() }
    didSet { havingPredicate = havingPredicate?.adopted }
  }

  /// Whether equal dictionaries are given once.
  open var returnsDistinctResults = false { willSet { willChange() } }

  /// Which of the coordinator's stores are asked; nil for all.
  open override var affectedStores: [NSPersistentStore]? { willSet { willChange() } }

  private let givenEntityName: String?
  private var keptEntity: NSEntityDescription?
  private weak var knownEntity: NSEntityDescription?
  /// Whether it is the request of a fetched property: an entity would keep itself in memory by it.
  private var isPartOfEntity = false
  private(set) var isFrozen = false

  /// A request without an entity.
  public override init() { givenEntityName = nil }

  /// A request for the objects of the entity of that name.
  public init(entityName: String) { givenEntityName = entityName }

  /// The same request with results of another type.
  init<OtherResult>(copying other: NSFetchRequest<OtherResult>) {
    givenEntityName = other.entityName
    (keptEntity, knownEntity) = (other.entity, other.entity)
    predicate = other.predicate
    sortDescriptors = other.sortDescriptors
    fetchLimit = other.fetchLimit
    fetchOffset = other.fetchOffset
    fetchBatchSize = other.fetchBatchSize
    resultType = other.resultType
    includesSubentities = other.includesSubentities
    includesPendingChanges = other.includesPendingChanges
    includesPropertyValues = other.includesPropertyValues
    returnsObjectsAsFaults = other.returnsObjectsAsFaults
    shouldRefreshRefetchedObjects = other.shouldRefreshRefetchedObjects
    relationshipKeyPathsForPrefetching = other.relationshipKeyPathsForPrefetching
    propertiesToFetch = other.propertiesToFetch
    propertiesToGroupBy = other.propertiesToGroupBy
    havingPredicate = other.havingPredicate
    returnsDistinctResults = other.returnsDistinctResults
    super.init()
    affectedStores = other.affectedStores
  }

  /// The name of the entity, however it was given.
  open var entityName: String? { entity?.name ?? givenEntityName }

  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  func freeze() { isFrozen = true }

  /// The request no longer keeps its entity in memory: a property of the model keeps the request.
  func becomePartOfEntity() { (isPartOfEntity, keptEntity) = (true, nil) }

  /// A request that asks for the same and can be changed.
  open func copy(with zone: NSZone? = nil) -> Any { NSFetchRequest<ResultType>(copying: self) }

  /// Whether both fetch the same in the same way.
  func asks(theSameAs other: NSFetchRequest<ResultType>) -> Bool {
    entityName == other.entityName && areEqual(predicate, other.predicate)
      && sortDescriptors == other.sortDescriptors
      && fetchLimit == other.fetchLimit && fetchOffset == other.fetchOffset && fetchBatchSize == other.fetchBatchSize
      && resultType == other.resultType && includesSubentities == other.includesSubentities
      && includesPendingChanges == other.includesPendingChanges
      && includesPropertyValues == other.includesPropertyValues
      && returnsObjectsAsFaults == other.returnsObjectsAsFaults
      && shouldRefreshRefetchedObjects == other.shouldRefreshRefetchedObjects
      && relationshipKeyPathsForPrefetching == other.relationshipKeyPathsForPrefetching
      && areEqual(propertiesToFetch, other.propertiesToFetch)
      && areEqual(propertiesToGroupBy, other.propertiesToGroupBy) && areEqual(havingPredicate, other.havingPredicate)
      && returnsDistinctResults == other.returnsDistinctResults && affectedStores == other.affectedStores
  }
}

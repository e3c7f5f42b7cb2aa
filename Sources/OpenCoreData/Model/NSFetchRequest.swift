public import Foundation

/// A request to fetch objects: which objects, in what order, how many, and in what form.
///
/// A request that is a template of a model in use cannot be changed; change a copy.
///
/// `ResultType` is the type of the results that the caller expects. It is not constrained to ``NSFetchRequestResult``,
/// because off Apple's platforms `any NSFetchRequestResult` would not satisfy that constraint; for the same reason a
/// request for one type cannot be cast to a request for another.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, NSCopying, Freezable {
  /// The entity whose objects to fetch; nil if only its name was given.
  open var entity: NSEntityDescription? {
    get { keptEntity ?? knownEntity }
    set {
      willChange()
      knownEntity = newValue
      keptEntity = isPartOfEntity ? nil : newValue
    }
  }

  /// The predicate that objects must satisfy; nil for all objects.
  ///
  /// A compound predicate of Foundation's is replaced by an equal one whose format, equality and hash are correct.
  open var predicate: NSPredicate? {
    willSet { willChange() }
    didSet { predicate = predicate?.adopted }
  }

  /// The order of the results; nil for no particular order.
  open var sortDescriptors: [NSSortDescriptor]? { willSet { willChange() } }

  /// The largest number of results; 0 for all.
  open var fetchLimit = 0 { willSet { willChange() } }

  /// The number of results to skip at the beginning.
  open var fetchOffset = 0 { willSet { willChange() } }

  /// How many of the fetched objects are read together; 0 for each by itself. The results are faults, even if
  /// ``returnsObjectsAsFaults`` is not set, and when one of them fires, the rows of as many results around it are read
  /// together.
  open var fetchBatchSize = 0 { willSet { willChange() } }

  /// The kind of the results.
  open var resultType = NSFetchRequestResultType.managedObjectResultType { willSet { willChange() } }

  /// Whether objects of subentities are fetched too; true unless set.
  open var includesSubentities = true { willSet { willChange() } }

  /// Whether changes that are not saved yet are taken into account; true unless set.
  open var includesPendingChanges = true { willSet { willChange() } }

  /// Whether values are loaded together with the objects; true unless set.
  open var includesPropertyValues = true { willSet { willChange() } }

  /// Whether the fetched objects are faults, which load their values when one is first read; true unless set.
  open var returnsObjectsAsFaults = true { willSet { willChange() } }

  /// Whether objects in memory get the fetched values. Has no effect: they keep their values.
  open var shouldRefreshRefetchedObjects = false { willSet { willChange() } }

  /// The key paths of the relationships whose objects are loaded together with the results; with a
  /// ``fetchBatchSize``, together with the results of their batch, when one of its faults fires.
  open var relationshipKeyPathsForPrefetching: [String]? { willSet { willChange() } }

  /// The columns of result dictionaries: names, attributes, to-one relationships, and ``NSExpressionDescription``s.
  open var propertiesToFetch: [Any]? { willSet { willChange() } }

  /// The columns by which dictionaries are grouped.
  open var propertiesToGroupBy: [Any]? { willSet { willChange() } }

  /// The predicate that a group must satisfy; nil for all groups.
  open var havingPredicate: NSPredicate? {
    willSet { willChange() }
    didSet { havingPredicate = havingPredicate?.adopted }
  }

  /// Whether equal dictionaries are returned only once.
  open var returnsDistinctResults = false { willSet { willChange() } }

  /// The coordinator's stores to fetch from; nil for all.
  open override var affectedStores: [NSPersistentStore]? { willSet { willChange() } }

  /// What stores of some kinds need to know beside the request.
  package var storeSettings: [String: any Hashable & Sendable] = [:]

  private let givenEntityName: String?
  private var keptEntity: NSEntityDescription?
  private weak var knownEntity: NSEntityDescription?
  /// Whether the request belongs to a fetched property. It must not retain its entity then: the entity retains it.
  private var isPartOfEntity = false
  private(set) var isFrozen = false

  /// A request without an entity.
  public override init() { givenEntityName = nil }

  /// A request for the objects of the entity of that name.
  public init(entityName: String) { givenEntityName = entityName }

  /// A copy of a request, with another type of results.
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
    storeSettings = other.storeSettings
    super.init()
    affectedStores = other.affectedStores
  }

  /// The name of the entity, whether the entity or only its name was given.
  open var entityName: String? { entity?.name ?? givenEntityName }

  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  func freeze() { isFrozen = true }

  /// Makes the request no longer retain its entity, because a property of the model retains the request from now on.
  func becomePartOfEntity() { (isPartOfEntity, keptEntity) = (true, nil) }

  /// A copy of the request that can be changed.
  open func copy(with zone: NSZone? = nil) -> Any { NSFetchRequest<ResultType>(copying: self) }

  /// Whether both requests have the same settings.
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

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
    get { keptEntity ?? ownersEntity }
    set {
      willChange()
      if isPartOfEntity { ownersEntity = newValue } else { keptEntity = newValue }
    }
  }

  /// The predicate that objects must satisfy; nil for all objects.
  ///
  /// A compound predicate of Foundation's is replaced by an equal one whose format, equality and hash are correct.
  open var predicate: NSPredicate? {
    get { settings.predicate }
    set {
      willChange()
      settings.predicate = newValue?.adopted
    }
  }

  /// The order of the results; nil for no particular order.
  open var sortDescriptors: [NSSortDescriptor]? {
    get { settings.sortDescriptors }
    set {
      willChange()
      settings.sortDescriptors = newValue
    }
  }

  /// The largest number of results; 0 for all.
  open var fetchLimit: Int {
    get { settings.fetchLimit }
    set {
      willChange()
      settings.fetchLimit = newValue
    }
  }

  /// The number of results to skip at the beginning.
  open var fetchOffset: Int {
    get { settings.fetchOffset }
    set {
      willChange()
      settings.fetchOffset = newValue
    }
  }

  /// How many of the fetched objects are read together; 0 for each by itself. The results are faults, even if
  /// ``returnsObjectsAsFaults`` is not set, and when one of them fires, the rows of as many results around it are read
  /// together.
  open var fetchBatchSize: Int {
    get { settings.fetchBatchSize }
    set {
      willChange()
      settings.fetchBatchSize = newValue
    }
  }

  /// The kind of the results.
  open var resultType: NSFetchRequestResultType {
    get { settings.resultType }
    set {
      willChange()
      settings.resultType = newValue
    }
  }

  /// Whether objects of subentities are fetched too; true unless set.
  open var includesSubentities: Bool {
    get { settings.includesSubentities }
    set {
      willChange()
      settings.includesSubentities = newValue
    }
  }

  /// Whether changes that are not saved yet are taken into account; true unless set.
  open var includesPendingChanges: Bool {
    get { settings.includesPendingChanges }
    set {
      willChange()
      settings.includesPendingChanges = newValue
    }
  }

  /// Whether values are loaded together with the objects; true unless set.
  open var includesPropertyValues: Bool {
    get { settings.includesPropertyValues }
    set {
      willChange()
      settings.includesPropertyValues = newValue
    }
  }

  /// Whether the fetched objects are faults, which load their values when one is first read; true unless set.
  open var returnsObjectsAsFaults: Bool {
    get { settings.returnsObjectsAsFaults }
    set {
      willChange()
      settings.returnsObjectsAsFaults = newValue
    }
  }

  /// Whether objects in memory get the fetched values. Has no effect: they keep their values.
  open var shouldRefreshRefetchedObjects: Bool {
    get { settings.shouldRefreshRefetchedObjects }
    set {
      willChange()
      settings.shouldRefreshRefetchedObjects = newValue
    }
  }

  /// The key paths of the relationships whose objects are loaded together with the results; with a
  /// ``fetchBatchSize``, together with the results of their batch, when one of its faults fires.
  open var relationshipKeyPathsForPrefetching: [String]? {
    get { settings.relationshipKeyPathsForPrefetching }
    set {
      willChange()
      settings.relationshipKeyPathsForPrefetching = newValue
    }
  }

  /// The columns of result dictionaries: names, attributes, to-one relationships, and ``NSExpressionDescription``s.
  open var propertiesToFetch: [Any]? {
    get { settings.propertiesToFetch }
    set {
      willChange()
      settings.propertiesToFetch = newValue
    }
  }

  /// The columns by which dictionaries are grouped.
  open var propertiesToGroupBy: [Any]? {
    get { settings.propertiesToGroupBy }
    set {
      willChange()
      settings.propertiesToGroupBy = newValue
    }
  }

  /// The predicate that a group must satisfy; nil for all groups.
  open var havingPredicate: NSPredicate? {
    get { settings.havingPredicate }
    set {
      willChange()
      settings.havingPredicate = newValue?.adopted
    }
  }

  /// Whether equal dictionaries are returned only once.
  open var returnsDistinctResults: Bool {
    get { settings.returnsDistinctResults }
    set {
      willChange()
      settings.returnsDistinctResults = newValue
    }
  }

  /// The coordinator's stores to fetch from; nil for all.
  open override var affectedStores: [NSPersistentStore]? { willSet { willChange() } }

  /// What stores of some kinds need to know beside the request.
  package var storeSettings: [String: any Hashable & Sendable] = [:]

  private let givenEntityName: String?
  // Private, so that the compiler can leave out the checks of exclusive access that open properties have at run time.
  private var settings = FetchSettings()
  private var keptEntity: NSEntityDescription?
  /// The entity of a request that belongs to a fetched property: the entity retains the request.
  private weak var ownersEntity: NSEntityDescription?
  private var isPartOfEntity = false
  private(set) var isFrozen = false

  /// A request without an entity.
  public override init() { givenEntityName = nil }

  /// A request for the objects of the entity of that name.
  public init(entityName: String) { givenEntityName = entityName }

  /// A copy of a request, with another type of results.
  init<OtherResult>(copying other: NSFetchRequest<OtherResult>) {
    (givenEntityName, keptEntity) = (other.entityName, other.entity)
    settings = FetchSettings(copying: other)
    storeSettings = other.storeSettings
    super.init()
    if let stores = other.affectedStores { affectedStores = stores }
  }

  /// The name of the entity, whether the entity or only its name was given.
  open var entityName: String? { entity?.name ?? givenEntityName }

  open override var requestType: NSPersistentStoreRequestType { .fetchRequestType }

  func freeze() { isFrozen = true }

  /// Makes the request no longer retain its entity, because a property of the model retains the request from now on.
  func becomePartOfEntity() { (isPartOfEntity, ownersEntity, keptEntity) = (true, entity, nil) }

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

/// What a fetch request asks for, of objects of any type.
private struct FetchSettings {
  var predicate: NSPredicate?
  var sortDescriptors: [NSSortDescriptor]?
  var fetchLimit = 0
  var fetchOffset = 0
  var fetchBatchSize = 0
  var resultType = NSFetchRequestResultType.managedObjectResultType
  var includesSubentities = true
  var includesPendingChanges = true
  var includesPropertyValues = true
  var returnsObjectsAsFaults = true
  var shouldRefreshRefetchedObjects = false
  var relationshipKeyPathsForPrefetching: [String]?
  var propertiesToFetch: [Any]?
  var propertiesToGroupBy: [Any]?
  var havingPredicate: NSPredicate?
  var returnsDistinctResults = false

  init() {}

  /// Asks the request for each property, since a subclass may override it.
  init<Result>(copying request: NSFetchRequest<Result>) {
    predicate = request.predicate?.adopted
    sortDescriptors = request.sortDescriptors
    fetchLimit = request.fetchLimit
    fetchOffset = request.fetchOffset
    fetchBatchSize = request.fetchBatchSize
    resultType = request.resultType
    includesSubentities = request.includesSubentities
    includesPendingChanges = request.includesPendingChanges
    includesPropertyValues = request.includesPropertyValues
    returnsObjectsAsFaults = request.returnsObjectsAsFaults
    shouldRefreshRefetchedObjects = request.shouldRefreshRefetchedObjects
    relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching
    propertiesToFetch = request.propertiesToFetch
    propertiesToGroupBy = request.propertiesToGroupBy
    havingPredicate = request.havingPredicate?.adopted
    returnsDistinctResults = request.returnsDistinctResults
  }
}

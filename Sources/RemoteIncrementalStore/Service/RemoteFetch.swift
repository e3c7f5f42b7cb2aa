/// A fetch of an application, as a service sees it.
public struct RemoteFetch: Hashable, Sendable {
  /// The entity whose objects are fetched.
  public var entityName: String
  /// Whether objects of entities that inherit from it are fetched too.
  public var includesSubentities: Bool
  /// What the objects must satisfy; nil for all objects.
  public var predicate: RemotePredicate?
  /// The order of the objects, the most important key first.
  public var order: [RemoteOrder]
  /// How many objects to skip.
  public var offset: Int
  /// The largest number of objects; 0 for all.
  public var limit: Int

  /// A fetch.
  public init(
    _ entityName: String, includesSubentities: Bool = true, predicate: RemotePredicate? = nil,
    order: [RemoteOrder] = [], offset: Int = 0, limit: Int = 0
  ) {
    self.entityName = entityName
    self.includesSubentities = includesSubentities
    (self.predicate, self.order, self.offset, self.limit) = (predicate, order, offset, limit)
  }
}

/// A key by which objects are sorted.
public struct RemoteOrder: Hashable, Sendable {
  /// The key path.
  public var keyPath: String
  /// Whether lesser values come first.
  public var isAscending: Bool

  /// A key.
  public init(_ keyPath: String, isAscending: Bool = true) { (self.keyPath, self.isAscending) = (keyPath, isAscending) }
}

/// A predicate as a tree.
public indirect enum RemotePredicate: Hashable, Sendable {
  /// How a value is compared with a constant.
  public enum Comparison: Hashable, Sendable {
    /// Equality.
    case equal, notEqual
    /// An order.
    case less, lessOrEqual, greater, greaterOrEqual
    /// Parts of texts.
    case beginsWith, contains, endsWith, like, matches
  }

  /// A comparison of the value at a key path with a constant. `SELF` is the key path of the object itself.
  case comparison(String, Comparison, RemoteValue, ignoringCase: Bool = false)
  /// Whether the value at a key path is one of these.
  case isIn(String, [RemoteValue])
  /// Whether the value at a key path is between two others, or equal to one of them.
  case between(String, RemoteValue, RemoteValue)
  /// All of these.
  case and([RemotePredicate])
  /// One of these, at least.
  case or([RemotePredicate])
  /// Not this.
  case not(RemotePredicate)
  /// Anything that has no form here, as it describes itself.
  case other(String)
}

/// A list at a service that answers a fetch, or at least contains all objects that do.
public struct RemoteQuery: Hashable, Sendable {
  /// What a service has done of a fetch. The rest is evaluated in the store.
  public struct Served: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: Int
    /// From bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The list has only objects that satisfy the predicate.
    public static let predicate = Served(rawValue: 1)
    /// The list is in the order of the fetch.
    public static let order = Served(rawValue: 2)
    /// Everything.
    public static let all: Served = [.predicate, .order]
  }

  /// What the service calls the list, for instance a path.
  public var name: String
  /// What further determines the list, for instance the parameters of a URL.
  public var parameters: [String: String]
  /// What of the fetch the list does. Without predicate and order, all pages are needed for a fetch with a limit.
  public var served: Served
  /// Whether an object that satisfies the query and is missing from the complete list does not exist. Without
  /// ``Served/predicate`` the list is said to have all objects of the entity.
  public var isExhaustive: Bool
  /// Whether the list may have objects of entities that the fetch is not for, so that a fetch with a limit needs all
  /// pages even without a predicate. False unless set.
  public var hasOthers = false
  /// How the list is read again.
  public var template: RemoteTemplate

  /// A list.
  public init(
    _ name: String, parameters: [String: String] = [:], served: Served = [], isExhaustive: Bool = false,
    template: RemoteTemplate = .reload
  ) {
    (self.name, self.parameters, self.served) = (name, parameters, served)
    (self.isExhaustive, self.template) = (isExhaustive, template)
  }
}

/// How a list is read again after it was complete once.
public struct RemoteTemplate: Hashable, Sendable {
  /// Whether the list is read from its beginning.
  public var rereads: Bool
  /// Whether objects that an exhaustive list does not have any more count as existing nevertheless.
  public var keepsObjects: Bool

  /// A template.
  public init(rereads: Bool, keepsObjects: Bool) { (self.rereads, self.keepsObjects) = (rereads, keepsObjects) }

  /// Reads all pages again. What they no longer have is not on the list any more, and does not exist any more if the
  /// list is exhaustive.
  public static let reload = RemoteTemplate(rereads: true, keepsObjects: false)
  /// Goes on behind the last page, for lists that only ever grow at their end. The service has to give each page, the
  /// last one too, a ``RemotePage/next`` from which a later request goes on, and ``RemotePage/isLast`` says that there
  /// is nothing more at present.
  public static let incremental = RemoteTemplate(rereads: false, keepsObjects: true)
}

/// A page of a list.
public struct RemotePage: Hashable, Codable, Sendable {
  /// The objects on the page, in the order of the list.
  public var records: [RemoteRecord]
  /// Other objects that came with the answer, for instance at the other ends of relationships.
  public var included: [RemoteRecord]
  /// Objects that do not exist any more.
  public var deleted: [RemoteIdentifier]
  /// Where the next page begins; nil if there is none.
  public var next: String?
  /// Whether there are no more pages at present. False unless set only if `next` is nil.
  public var isLast: Bool
  /// The version of the list as a whole, if the service has one. It is given back in the next request for the first
  /// page.
  public var tag: String?
  /// For how long after the answer the list stays fresh, as the service says; nil if it does not say so. Zero: it has
  /// to be asked again each time. A negative time counts as zero.
  ///
  /// This is the default limit of the age of the list, where neither the fetch nor ``RemoteService/freshness(of:)`` has
  /// one. Of several pages the shortest time counts. On an answer that the list is unchanged, nil leaves it at what the
  /// service has said before.
  public var freshFor: Duration?
  /// Whether the list has not changed since the version that the request has named. Everything else but ``freshFor`` is
  /// ignored then.
  public var isUnchanged: Bool

  /// A page.
  public init(
    _ records: [RemoteRecord] = [], included: [RemoteRecord] = [], deleted: [RemoteIdentifier] = [],
    next: String? = nil, isLast: Bool? = nil, tag: String? = nil, freshFor: Duration? = nil
  ) {
    (self.records, self.included, self.deleted) = (records, included, deleted)
    (self.next, self.isLast, self.tag) = (next, isLast ?? (next == nil), tag)
    self.freshFor = freshFor
    isUnchanged = false
  }

  /// The answer that a list has not changed.
  public static var unchanged: RemotePage { unchanged() }

  /// The answer that a list has not changed, and stays fresh for a time.
  public static func unchanged(freshFor: Duration? = nil) -> RemotePage {
    var page = RemotePage(freshFor: freshFor)
    page.isUnchanged = true
    return page
  }
}

#if HTTP
  public import RemoteIncrementalStore

  /// Where a backend has the objects of an entity, and what their JSON means.
  ///
  /// Properties that are not described are neither read nor sent. The objects of a list are of this very entity, unless
  /// it has ``types``.
  public struct HTTPEntity: Hashable, Sendable {
    /// The name of the entity.
    public var name: String
    /// The path of the collection, as in `/bugs`; the path of an object is this one with its identifier, `/bugs/17`. If
    /// this one ends with a slash, so does that. Nil if objects come only within others.
    public var path: String?
    /// The key of the identifier, a text or a whole number.
    public var identifierKey = "id"
    /// Whether identifiers are sent as numbers.
    public var hasNumericIdentifiers = false
    /// The key of the version of an object; nil if only the header `ETag` tells it.
    ///
    /// Only with such a key have the objects of a list versions. The backend has to use the same ones in `ETag` and
    /// `If-Match`, as entity tags: the version `7` is `"7"` there. What already is an entity tag stays as it is.
    public var versionKey: String?
    /// The key of the array in the answer to a request for a list, if it is not ``HTTPDescription/listKey``.
    public var listKey: String?
    /// Attributes by name.
    public var attributes: [String: HTTPAttribute]
    /// Relationships by name.
    public var relationships: [String: HTTPRelationship]
    /// Parameters that select objects by the value at a key path, by key path, as in
    /// `["isOpen": "open", "reporter": "user"]` for equal values.
    public var filters: [String: HTTPFilter] = [:]
    /// What the parameter of ``HTTPDescription/ordering`` calls a key path.
    public var orders: [String: String] = [:]
    /// How lists are read again that only grow at their end; nil if lists are read from their beginning, in pages as
    /// ``HTTPDescription/paging`` says.
    public var growth: HTTPGrowth?
    /// How new objects are found again, if ``HTTPDescription/repeating`` is `.finding`; nil if they are not.
    public var finding: HTTPFinding?
    /// The parameter of the collection that selects objects by their identifiers, separated by commas. Objects that are
    /// missing from the list do not exist. Nil if each object is asked for on its own.
    public var identifiersParameter: String?
    /// How the entities are told apart that inherit from this one and have the same collection; nil if there are none.
    public var types: HTTPTypes?
    /// Whether an object that is missing from a complete list, although it satisfies the filters of the list, does not
    /// exist. Not for an entity that others inherit from, unless it has ``types``.
    public var hasExhaustiveLists = false
    /// How old what the store has may be, for fetches that do not say so themselves; nil for what the backend says of
    /// each list in `Cache-Control`, and `RemoteFreshness.standard` for lists of which it says nothing.
    public var freshness: RemoteFreshness?
    /// The entities with the same collection, once it is known which.
    var family: HTTPFamily?

    /// An entity.
    public init(
      _ name: String, path: String? = nil, attributes: [String: HTTPAttribute] = [:],
      relationships: [String: HTTPRelationship] = [:]
    ) {
      (self.name, self.path, self.attributes, self.relationships) = (name, path, attributes, relationships)
    }
  }

  /// What an attribute is in JSON. A text is the key of an attribute that is there as it is.
  public struct HTTPAttribute: Hashable, Sendable, ExpressibleByStringLiteral {
    /// What the value is in JSON.
    public enum Kind: Hashable, Sendable {
      /// A text, number or Boolean, which the store converts to the type of the attribute.
      case plain
      /// A date, as a text of ISO 8601 or as seconds since 1970.
      case date
      /// A number, of which no digit is lost.
      case decimal
      /// Bytes, as Base64.
      case data
    }

    /// The key.
    public var key: String
    /// What the value is in JSON.
    public var kind: Kind
    /// Whether it is never sent.
    public var isReadOnly: Bool

    /// An attribute.
    public init(_ key: String, kind: Kind = .plain, isReadOnly: Bool = false) {
      (self.key, self.kind, self.isReadOnly) = (key, kind, isReadOnly)
    }

    /// A plain attribute.
    public init(stringLiteral key: String) { self.init(key) }

    /// A date.
    public static func date(_ key: String, isReadOnly: Bool = false) -> HTTPAttribute {
      HTTPAttribute(key, kind: .date, isReadOnly: isReadOnly)
    }
  }

  /// What a relationship is in JSON. Reading takes what it finds: an identifier, an object with its properties, or an
  /// array of either, which has all members.
  public struct HTTPRelationship: Hashable, Sendable {
    /// The entity at the other end.
    public var entityName: String
    /// Whether it has many members.
    public var isToMany: Bool
    /// The key; nil if an object does not tell its members.
    public var key: String?
    /// The key under which an identifier is sent, or for a new object those of all members; nil if it is never sent.
    public var sentKey: String?
    /// The key under which a change has the identifiers of new members; nil if it cannot have them.
    public var addedKey: String?
    /// The key under which a change has the identifiers of former members; nil if it cannot have them.
    public var removedKey: String?
    /// The path of the list of members, as in `/users/{id}/bugs`; nil if there is none.
    public var membersPath: String?

    /// A relationship to an object.
    ///
    /// - Parameters:
    ///   - entityName: the entity at the other end.
    ///   - key: where an object has the identifier or the object.
    ///   - sentKey: where the identifier is sent, as in `user_id` or `user.id`; nil for the same key.
    ///   - isReadOnly: whether it is never sent.
    public static func toOne(
      _ entityName: String, key: String, sentKey: String? = nil, isReadOnly: Bool = false
    ) -> HTTPRelationship {
      HTTPRelationship(
        entityName: entityName, isToMany: false, key: key, sentKey: isReadOnly ? nil : sentKey ?? key)
    }

    /// A relationship to many objects. Sending it is needed only if the other end does not tell the same.
    ///
    /// - Parameters:
    ///   - entityName: the entity at the other end.
    ///   - key: where an object has the identifiers or the objects; nil if it does not have them.
    ///   - path: the path of the list of members, with `{id}` for the identifier of the object; nil if there is none.
    ///   - sentKey: where the identifiers of all members are sent with a new object; nil if never.
    ///   - addedKey: where the identifiers of new members are sent; nil if never.
    ///   - removedKey: where the identifiers of former members are sent; nil if never.
    public static func toMany(
      _ entityName: String, key: String? = nil, path: String? = nil, sentKey: String? = nil, addedKey: String? = nil,
      removedKey: String? = nil
    ) -> HTTPRelationship {
      HTTPRelationship(
        entityName: entityName, isToMany: true, key: key, sentKey: sentKey, addedKey: addedKey,
        removedKey: removedKey, membersPath: path)
    }
  }
#endif

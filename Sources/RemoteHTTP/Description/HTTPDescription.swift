#if HTTP
  public import Foundation
  public import RemoteIncrementalStore

  /// What an ``HTTPService`` has to know of a backend: where its collections are, and how it says things in JSON.
  ///
  ///     var backend = HTTPDescription(
  ///       baseURL: URL(string: "https://api.example.com/v1")!,
  ///       entities: [
  ///         HTTPEntity(
  ///           "Bug", path: "/bugs",
  ///           attributes: ["title": "title", "created": .date("created_at", isReadOnly: true)],
  ///           relationships: ["reporter": .toOne("User", key: "user", sentKey: "user_id")]),
  ///         HTTPEntity("User", path: "/users", attributes: ["name": "profile.name"]),
  ///       ])
  ///     backend.paging = .link
  ///
  /// Keys are key paths in the JSON: the names of members of nested objects, joined by dots.
  public struct HTTPDescription: Hashable, Sendable {
    /// How dates are sent. Both forms are read.
    public enum Dates: Hashable, Sendable {
      /// Texts as in `2026-05-01T12:00:00Z`, with milliseconds if there are any.
      case iso8601
      /// Numbers of seconds since 1970.
      case seconds
    }

    /// The method that changes an object. Both send only the properties that were changed.
    public enum UpdateMethod: String, Hashable, Sendable {
      /// `PATCH`, as a merge patch.
      case patch = "PATCH"
      /// `PUT`, for backends that keep what the body does not name.
      case put = "PUT"
    }

    /// What all paths are appended to. It has no user, no query and no fragment.
    public var baseURL: URL
    /// The entities. Fetches of all others are answered by the cache alone.
    public var entities: [HTTPEntity]
    /// Headers of all requests. Not for credentials, which ``HTTPService`` asks for.
    public var headers = ["Accept": "application/json"]
    /// The key of the array in the answer to a request for a list; nil if the answer is the array itself.
    public var listKey: String?
    /// The key of the object in the answer to a request for an object or to a change; nil if the answer is the object
    /// itself.
    public var objectKey: String?
    /// How lists are divided into pages.
    public var paging: HTTPPaging = .none
    /// The parameter that sets the number of objects of a page; nil if there is none.
    public var pageSizeParameter: String?
    /// How many objects a page has, at most, if there is a ``pageSizeParameter``.
    public var pageSize = 100
    /// How a list is sorted by the backend; nil if it cannot do so.
    public var ordering: HTTPOrdering?
    /// How dates are sent.
    public var dates: Dates = .iso8601
    /// How changes of objects are sent.
    public var updateMethod: UpdateMethod = .patch
    /// What the backend offers against making a change twice. `.keys`: it knows the header `Idempotency-Key`.
    /// `.clientIdentifiers`: new objects are sent with `PUT` to the path of an identifier chosen here. `.finding`: new
    /// objects have a key, as ``HTTPEntity/finding`` says; where it says nothing of an entity, new objects that would
    /// have to be sent again are kept aside.
    public var repeating: RemoteRepeating = .nothing
    /// Where the backend takes several changes at once; nil if each is a request.
    public var batch: HTTPBatch?
    /// Where the backend tells what has changed; nil if it does not.
    public var feed: HTTPFeed?
    /// How long a request may take, from connecting to the last byte of the answer.
    public var timeLimit: Duration = .seconds(30)
    /// How many bytes the body of an answer may have.
    public var answerBytesMax = 16 << 20

    /// A backend.
    public init(baseURL: URL, entities: [HTTPEntity]) { (self.baseURL, self.entities) = (baseURL, entities) }
  }

  /// How lists are divided into pages.
  public enum HTTPPaging: Hashable, Sendable {
    /// Every list is one answer.
    case none
    /// The header `Link` has the URL of the next page, with `rel="next"`.
    case link
    /// A key of the body has what leads to the next page: the value of a parameter, or without one a URL. A body
    /// without it, or with null or an empty text there, is the last one.
    case cursor(key: String, parameter: String?)
    /// Pages have numbers. The first page without objects is the one after the last one, also if the answer is 404.
    case numbers(parameter: String, first: Int = 1)
  }

  /// How a list is sorted by a backend.
  public enum HTTPOrdering: Hashable, Sendable {
    /// One parameter has all keys, separated by commas, with `-` before those whose greater values come first.
    case signs(parameter: String)
    /// One parameter has the only key, another one `asc` or `desc`.
    case direction(parameter: String, directionParameter: String)
  }

  /// A path at which a backend tells what has changed since a cursor, as in
  ///
  ///     {"bugs": [{"id": 1, …}], "removed": {"bugs": [2, 3]}, "cursor": "a7", "more": false}
  ///
  /// If the cursor is too old the answer is 410. Everything is asked for then as if for the first time, without it.
  public struct HTTPFeed: Hashable, Sendable {
    /// The path.
    public var path: String
    /// The parameter with the cursor.
    public var parameter: String
    /// The key of the next cursor.
    public var cursorKey: String
    /// The key of what is true if there are more changes now; nil if an answer always has all.
    public var moreKey: String?
    /// The keys of the arrays of objects, by the names of their entities.
    public var records: [String: String]
    /// The keys of the arrays of identifiers of deleted objects, by the names of their entities.
    public var deleted: [String: String]

    /// A feed.
    public init(
      path: String, parameter: String = "since", cursorKey: String = "cursor", moreKey: String? = nil,
      records: [String: String], deleted: [String: String] = [:]
    ) {
      (self.path, self.parameter, self.cursorKey, self.moreKey) = (path, parameter, cursorKey, moreKey)
      (self.records, self.deleted) = (records, deleted)
    }
  }
#endif

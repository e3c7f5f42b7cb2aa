#if HTTP
  /// A path that takes several changes in one `POST` request. Each has the method, path, headers and body that it would
  /// have by itself, and gets an answer of its own:
  ///
  ///     [{"method": "PATCH", "path": "/bugs/17", "headers": {"If-Match": "\"7\""}, "body": {"title": "Crash"}},
  ///      {"method": "DELETE", "path": "/bugs/18", "headers": {}}]
  ///
  ///     [{"status": 200, "headers": {"ETag": "\"8\""}, "body": {"id": 17, "title": "Crash"}},
  ///      {"status": 204}]
  ///
  /// Answers are in the order of the changes. The changes of a request do not depend on each other, and one may be made
  /// while another is refused. A change that is alone is sent without this.
  public struct HTTPBatch: Hashable, Sendable {
    /// The path.
    public var path: String
    /// How many changes a request has, at most.
    public var size: Int
    /// The key of the array of changes; nil if the body is the array itself.
    public var changesKey: String?
    /// The key of the array of answers; nil if the body of the answer is the array itself.
    public var answersKey: String?

    /// A path for several changes.
    public init(path: String, size: Int = 50, changesKey: String? = nil, answersKey: String? = nil) {
      (self.path, self.size, self.changesKey, self.answersKey) = (path, size, changesKey, answersKey)
    }
  }
#endif

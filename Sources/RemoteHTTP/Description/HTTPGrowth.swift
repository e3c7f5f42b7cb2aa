#if HTTP
  /// How a list that only ever grows at its end is read again: only what is new since a cursor.
  ///
  ///     event.growth = HTTPGrowth(parameter: "after", cursor: .lastObject(key: "id"))
  ///
  /// Every list of the entity has to be in the order in which its objects come to be on it. It is never sorted by the
  /// backend for a fetch, and what it lacks may exist nevertheless. If the cursor is too old the answer is 410, and the
  /// list is read from its beginning.
  public struct HTTPGrowth: Hashable, Sendable {
    /// Where the cursor is behind which a page ends.
    public enum Cursor: Hashable, Sendable {
      /// At a key of the answer. It may be missing if there are no objects.
      case answer(key: String)
      /// At a key of the last object.
      case lastObject(key: String)
    }

    /// The parameter with the cursor of the page before; the first page is asked for without it.
    public var parameter: String
    /// Where the next cursor is.
    public var cursor: Cursor
    /// The key of what is true if there are more objects now. Nil: there are none if a page has no objects, or ends
    /// with the cursor that it began with.
    public var moreKey: String?

    /// A growth.
    public init(parameter: String, cursor: Cursor, moreKey: String? = nil) {
      (self.parameter, self.cursor, self.moreKey) = (parameter, cursor, moreKey)
    }
  }
#endif

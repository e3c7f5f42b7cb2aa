#if HTTP
  /// Which parameters of a list select objects by the value at a key path. A text is the parameter for equal values.
  ///
  ///     bug.filters = [
  ///       "isOpen": "open",
  ///       "created": HTTPFilter(greaterOrEqual: "since", less: "before"),
  ///       "assignee": HTTPFilter("assignee", oneOf: "assignees", noValue: HTTPParameter("assignee", "none")),
  ///     ]
  ///
  /// A list has to have all objects of which the predicate is true in the store, too: the backend compares texts as the
  /// store does, if it compares them. What has no parameter here is left to the store.
  public struct HTTPFilter: Hashable, Sendable, ExpressibleByStringLiteral {
    /// The parameter for objects with the same value.
    public var equal: String?
    /// The parameter for objects with one of several values, which are separated by commas.
    public var oneOf: String?
    /// The parameter for objects with lesser values.
    public var less: String?
    /// The parameter for objects with lesser or equal values.
    public var lessOrEqual: String?
    /// The parameter for objects with greater values.
    public var greater: String?
    /// The parameter for objects with greater or equal values.
    public var greaterOrEqual: String?
    /// What selects objects without a value.
    public var noValue: HTTPParameter?
    /// What selects objects with a value, whichever it is.
    public var anyValue: HTTPParameter?

    /// A filter. With only one of a pair such as `less` and `lessOrEqual`, a list for the other comparison has the
    /// objects with the very value as well or, if the wider one is missing, is not filtered by that.
    public init(
      _ equal: String? = nil, oneOf: String? = nil, greater: String? = nil, greaterOrEqual: String? = nil,
      less: String? = nil, lessOrEqual: String? = nil, noValue: HTTPParameter? = nil, anyValue: HTTPParameter? = nil
    ) {
      (self.equal, self.oneOf) = (equal, oneOf)
      (self.greater, self.greaterOrEqual) = (greater, greaterOrEqual)
      (self.less, self.lessOrEqual) = (less, lessOrEqual)
      (self.noValue, self.anyValue) = (noValue, anyValue)
    }

    /// A filter for equal values.
    public init(stringLiteral equal: String) { self.init(equal) }
  }

  /// A parameter of a URL, with its value.
  public struct HTTPParameter: Hashable, Sendable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    /// A parameter.
    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }
#endif

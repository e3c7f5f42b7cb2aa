#if HTTP
  /// How a new object is found again if the answer to its insertion was lost: it is sent with a key, which it keeps.
  ///
  ///     bug.finding = HTTPFinding(key: "client_key", parameter: "client_key")
  ///     backend.repeating = .finding
  public struct HTTPFinding: Hashable, Sendable {
    /// Where an object has the key, a random UUID in small letters, when it is sent and when it is read.
    public var key: String
    /// The parameter of the collection that selects objects by the key.
    public var parameter: String

    /// A way to find new objects.
    public init(key: String, parameter: String) { (self.key, self.parameter) = (key, parameter) }
  }
#endif

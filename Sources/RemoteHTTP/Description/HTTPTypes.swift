#if HTTP
  /// How a backend tells the objects of entities apart that have one collection, because they inherit from one entity.
  ///
  ///     var animal = HTTPEntity("Animal", path: "/animals", attributes: ["name": "name"])
  ///     animal.types = HTTPTypes("kind", ["dog": "Dog", "cat": "Cat"], parameter: "kind")
  ///     let dog = HTTPEntity("Dog", attributes: ["tricks": "tricks"])
  ///     let cat = HTTPEntity("Cat")
  ///
  /// An entity that another one names among its types has what the other one says and it does not say itself: path,
  /// keys, attributes, relationships, filters and so on. A new object is sent with its type.
  ///
  /// The identifier of an object does not tell its entity. So where an object refers to one of an entity with types,
  /// the answer has to have the other object, or at least its identifier together with its type:
  ///
  ///     {"id": 3, "pet": {"id": 7, "kind": "dog"}}
  public struct HTTPTypes: Hashable, Sendable {
    /// The key of the type, a text.
    public var key: String
    /// Names of entities by type: of all that inherit from this one, also indirectly, and of this one itself if the
    /// backend has a type for it. An object of no type that is here is of the entity whose list has it; if that is
    /// abstract the list is an error.
    public var entityNames: [String: String]
    /// The parameter of the collection that selects the objects of one type. Without, the list of all is read for
    /// fetches of an entity that inherits from this one and has no path of its own.
    public var parameter: String?

    /// Types.
    public init(_ key: String, _ entityNames: [String: String], parameter: String? = nil) {
      (self.key, self.entityNames, self.parameter) = (key, entityNames, parameter)
    }
  }
#endif

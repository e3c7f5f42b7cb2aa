#if HTTP
  /// What an entity has to do with the others that are told apart by a type.
  struct HTTPFamily: Hashable, Sendable {
    /// The entity that describes the types.
    let baseName: String
    let types: HTTPTypes
    /// Whether the entity has its objects at a path of its own.
    let hasOwnPath: Bool

    /// What new objects of an entity are sent with; nil if the backend has no type for it.
    func type(of entityName: String) -> String? {
      types.entityNames.filter { $0.value == entityName }.keys.min()
    }

    /// The parameter and its value that select all objects of an entity, and no others; nil if there is none.
    func selection(of entityName: String) -> HTTPParameter? {
      let texts = types.entityNames.filter { $0.value == entityName }.keys
      guard texts.count == 1, let text = texts.first else { return nil }
      return types.parameter.map { HTTPParameter($0, text) }
    }
  }

  extension HTTPEntity {
    /// Entities by name, those that others name among their types completed by what these say.
    ///
    /// It is a programming error if an entity is described twice, or is named and not described.
    static func families(_ entities: [HTTPEntity]) -> [String: HTTPEntity] {
      var families = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0) })
      // An entity with types may inherit from another one. That one has more types, and the collection is its.
      let bases = entities.filter { $0.types != nil }.sorted { $0.typeCount > $1.typeCount }
      for base in bases {
        guard let types = base.types else { continue }
        for name in Set(types.entityNames.values).union([base.name]) {
          precondition(families[name] != nil, "\(base.name): the type \(name) is not described.")
          families[name]?.join(base, types)
        }
      }
      return families
    }

    private var typeCount: Int { types?.entityNames.count ?? 0 }

    private mutating func join(_ base: HTTPEntity, _ types: HTTPTypes) {
      family = family ?? HTTPFamily(baseName: base.name, types: types, hasOwnPath: name == base.name || path != nil)
      guard name != base.name else { return }
      path = path ?? base.path
      (identifierKey, hasNumericIdentifiers) = (base.identifierKey, base.hasNumericIdentifiers)
      (versionKey, listKey) = (versionKey ?? base.versionKey, listKey ?? base.listKey)
      identifiersParameter = identifiersParameter ?? base.identifiersParameter
      hasExhaustiveLists = hasExhaustiveLists || base.hasExhaustiveLists
      (freshness, growth) = (freshness ?? base.freshness, growth ?? base.growth)
      finding = finding ?? base.finding
      attributes.merge(base.attributes) { own, _ in own }
      relationships.merge(base.relationships) { own, _ in own }
      filters.merge(base.filters) { own, _ in own }
      orders.merge(base.orders) { own, _ in own }
    }
  }
#endif

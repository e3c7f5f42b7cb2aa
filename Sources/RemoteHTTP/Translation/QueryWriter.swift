#if HTTP
  import RemoteIncrementalStore

  /// Makes the parameters of a list of a fetch.
  struct QueryWriter {
    let description: HTTPDescription
    let entity: HTTPEntity
    let values: ValueWriter

    /// The list. What the backend cannot do of the fetch is left to the store.
    func query(_ fetch: RemoteFetch) -> RemoteQuery {
      var query = RemoteQuery(entity.name)
      var filter = FilterWriter(entity.filters, values)
      let isWhole = filter.add(fetch.predicate)
      query.parameters = filter.parameters
      // Without any filter the list has all objects; with only some it has neither all nor those of the fetch.
      query.isExhaustive = entity.hasExhaustiveLists && (isWhole || query.parameters.isEmpty)
      let isSelected = select(fetch, &query)
      if isWhole, isSelected { query.served.insert(.predicate) }
      if entity.growth != nil { (query.template, query.isExhaustive) = (.incremental, false) }
      if sort(fetch.order, &query.parameters) { query.served.insert(.order) }
      if let parameter = description.pageSizeParameter {
        let isLimited = fetch.limit > 0 && query.served == .all
        query.parameters[parameter] = "\(isLimited ? min(fetch.limit, description.pageSize) : description.pageSize)"
      }
      return query
    }

    /// Leaves out objects of other entities with the same collection, if that is possible. Returns whether the list has
    /// none.
    private func select(_ fetch: RemoteFetch, _ query: inout RemoteQuery) -> Bool {
      guard let family = entity.family else { return true }
      if family.hasOwnPath {
        query.hasOthers = entity.types != nil && !fetch.includesSubentities
      } else if entity.types == nil, let selection = family.selection(of: entity.name),
        query.parameters[selection.name] ?? selection.value == selection.value
      {
        query.parameters[selection.name] = selection.value
      } else {
        query.name = family.baseName
        query.hasOthers = true
      }
      if query.hasOthers { query.isExhaustive = false }
      return !query.hasOthers
    }

    /// Adds the order. Returns whether the list is in the order that is wanted.
    private func sort(_ order: [RemoteOrder], _ parameters: inout [String: String]) -> Bool {
      if order.isEmpty { return true }
      guard entity.growth == nil else { return false }
      let names = order.compactMap { entity.orders[$0.keyPath] }
      guard names.count == order.count else { return false }
      switch description.ordering {
      case nil: return false
      case .signs(let parameter):
        let keys = zip(names, order).map { $1.isAscending ? $0 : "-\($0)" }
        parameters[parameter] = keys.joined(separator: ",")
      case .direction(let parameter, let directionParameter):
        guard names.count == 1 else { return false }
        parameters[parameter] = names[0]
        parameters[directionParameter] = order[0].isAscending ? "asc" : "desc"
      }
      return true
    }
  }
#endif

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
      if isWhole { query.served.insert(.predicate) }
      // Without any filter the list has all objects; with only some it has neither all nor those of the fetch.
      query.isExhaustive = entity.hasExhaustiveLists && (isWhole || query.parameters.isEmpty)
      if sort(fetch.order, &query.parameters) { query.served.insert(.order) }
      if let parameter = description.pageSizeParameter {
        let isLimited = fetch.limit > 0 && query.served == .all
        query.parameters[parameter] = "\(isLimited ? min(fetch.limit, description.pageSize) : description.pageSize)"
      }
      return query
    }

    /// Adds the order. Returns whether the list is in the order that is wanted.
    private func sort(_ order: [RemoteOrder], _ parameters: inout [String: String]) -> Bool {
      if order.isEmpty { return true }
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

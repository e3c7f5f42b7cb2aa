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
      let isWhole = filter(fetch.predicate, &query.parameters)
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

    /// Adds the filters of what can be filtered. Returns whether that is the whole predicate.
    private func filter(_ predicate: RemotePredicate?, _ parameters: inout [String: String]) -> Bool {
      switch predicate {
      case nil: return true
      case .and(let parts):
        var isWhole = true
        for part in parts where !filter(part, &parameters) { isWhole = false }
        return isWhole
      case .comparison(let keyPath, .equal, let value, ignoringCase: false):
        guard let parameter = entity.filters[keyPath], let text = values.text(value) else { return false }
        return parameters.updateValue(text, unlessThereIsOneAt: parameter) == text
      default: return false
      }
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

  extension [String: String] {
    /// Adds a value if there is none. Returns the value that is there then.
    fileprivate mutating func updateValue(_ value: String, unlessThereIsOneAt key: String) -> String {
      self[key, default: value] = self[key] ?? value
      return self[key] ?? value
    }
  }
#endif

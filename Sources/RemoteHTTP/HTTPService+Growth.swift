#if HTTP
  import NIOHTTP1
  import RemoteIncrementalStore

  extension HTTPService {
    /// A page of a list that only grows: what is new since a cursor.
    func page(
      of entity: HTTPEntity, _ growth: HTTPGrowth, at list: String, after cursor: String?
    ) async throws -> RemotePage {
      let url = address.adding(cursor.map { [growth.parameter: $0] } ?? [:], to: list)
      let answer = try await transport.answer(to: Request(method: .GET, url: url))
      if answer.status == 410, cursor != nil { return try await page(of: entity, growth, at: list, after: nil) }
      let json = try answer.succeeded().json()
      let objects = json.at(entity.listKey ?? description.listKey)
      var reader = RecordReader(entities)
      let records = try reader.records(objects, entity)
      let next = growth.next(json, objects)
      guard next != nil || records.isEmpty else { throw RemoteFailure.invalidAnswer("there is no cursor") }
      let hasMore = growth.moreKey.map { json[$0] == .bool(true) } ?? (!records.isEmpty && next != cursor)
      guard !hasMore || next != nil && next != cursor else {
        throw RemoteFailure.invalidAnswer("a page is followed by itself")
      }
      return RemotePage(
        records, included: reader.included, next: next ?? cursor, isLast: !hasMore, freshFor: answer.freshFor)
    }
  }

  extension HTTPGrowth {
    /// The cursor at the end of a page; nil if there is none.
    fileprivate func next(_ answer: JSONValue, _ objects: JSONValue?) -> String? {
      switch (cursor, objects) {
      case (.answer(let key), _): answer[key]?.text
      case (.lastObject(let key), .array(let elements)?): elements.last?[key]?.text
      case (.lastObject, _): nil
      }
    }
  }
#endif

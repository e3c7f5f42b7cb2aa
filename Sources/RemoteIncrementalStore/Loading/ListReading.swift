import Foundation
import IncrementalStore
import OpenCoreData
import RowFormat

extension RemoteQuery {
  /// What tells a list from others.
  func key(of entityName: String) -> String {
    ([entityName, name] + parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }).joined(separator: "\n")
  }
}

/// Reads a list page by page, and writes each page, with where to go on, as one batch.
struct ListReading {
  let link: RemoteLink
  let query: RemoteQuery
  let entityName: String
  /// How many objects are needed; nil for all.
  let needed: Int?
  /// Whether the fetch needs the values of the objects, for its predicate or its order.
  let needsValues: Bool

  private var key: String { query.key(of: entityName) }

  /// Pages of an unfinished generation that has been begun again, to be removed with the first new page.
  private var dropped: UInt64 = 0

  init(link: RemoteLink, query: RemoteQuery, entityName: String, needed: Int?, needsValues: Bool) {
    (self.link, self.query, self.entityName) = (link, query, entityName)
    (self.needed, self.needsValues) = (needed, needsValues)
  }

  mutating func run() async throws -> Lists.State {
    var (result, count) = try begin()
    // Pages that an earlier reading has left are as old as that is.
    let isResumed = query.template.rereads && result.pages > 0 && !result.isComplete
    var readAt: Double { isResumed ? result.begunAt : RemoteLink.now }
    var tag = result.isComplete && result.cursor == nil ? result.tag : nil
    var isFirst = true
    while true {
      try Task.checkCancellation()
      let request = link.order.begin()
      defer { link.order.end(request) }
      let (cursor, known) = (result.cursor, tag)
      let page = try await link.ask { try await link.service.page(of: query, after: cursor, ifNot: known) }
      if page.isUnchanged {
        guard isFirst, tag != nil else { throw RemoteFailure.invalidAnswer("a page that was not known is unchanged") }
        let known = try unchanged(freshFor: page.freshFor)
        return Lists.State(readAt: known.readAt, count: count, isComplete: true, freshFor: known.freshFor)
      }
      if isFirst, result.isComplete {
        begin(anew: &result, &count)
        tag = nil
      }
      let isFirstPage = result.pages == 0
      isFirst = false
      try await write(page, request, &result, isFirstPage: isFirstPage)
      dropped = 0
      count += page.records.count
      if page.isLast {
        result.readAt = readAt
        try await complete(&result)
        return Lists.State(readAt: result.readAt, count: count, isComplete: true, freshFor: result.freshFor)
      }
      guard page.next != nil else { throw RemoteFailure.invalidAnswer("a page that is not the last has no next one") }
      if let needed, count >= needed {
        result.readAt = readAt
        try link.edit(recordsHistory: false) { rows in
          rows.add { $0.put(result.bytes, at: ResultRow.reference(of: key), in: ResultRow.table) }
        }
        return Lists.State(readAt: result.readAt, count: count, isComplete: false, freshFor: result.freshFor)
      }
    }
  }

  // MARK: Where to begin

  /// The row of the list, and how many objects of the present generation are known.
  private mutating func begin() throws -> (ResultRow, Int) {
    var (result, count) = try link.read { rows in
      let number = try rows.map(of: entityName).number
      let result = try rows.result(key) ?? ResultRow(key: key, entity: number)
      return (result, try rows.objects(of: result, generation: result.generation, pages: result.pages).count)
    }
    if result.isComplete {
      if query.template.rereads { result.cursor = nil }
    } else if result.pages == 0 {
      result.begunAt = RemoteLink.now
    } else if query.template.rereads, result.cursor == nil || result.readAt > result.begunAt {
      // It has ended behind its last page, or was read as far as it was needed, and is too old now.
      begin(anew: &result, &count)
    }
    return (result, count)
  }

  private mutating func begin(anew result: inout ResultRow, _ count: inout Int) {
    result.freshFor = nil
    guard query.template.rereads else {
      result.isComplete = false
      return
    }
    // An unfinished generation is begun again; the pages of the last complete one stay until this one is complete.
    if result.isComplete {
      result.formerPages = result.pages
      result.generation += 1
    } else {
      dropped = result.pages
    }
    (result.isComplete, result.pages, result.cursor, result.tag) = (false, 0, nil, nil)
    result.begunAt = RemoteLink.now
    count = 0
  }

  private func unchanged(freshFor: Duration?) throws -> ResultRow {
    var known: ResultRow?
    try link.edit(recordsHistory: false) { rows in
      guard var result = try rows.rows.result(key) else { return }
      result.readAt = RemoteLink.now
      result.freshFor = freshFor?.secondsFromNow ?? result.freshFor
      rows.add { $0.put(result.bytes, at: ResultRow.reference(of: key), in: ResultRow.table) }
      known = result
    }
    guard let known else { throw RemoteFailure.invalidAnswer("a list that was not known is unchanged") }
    return known
  }

  // MARK: Pages

  private func write(
    _ page: RemotePage, _ request: UInt64, _ result: inout ResultRow, isFirstPage: Bool
  ) async throws {
    var page = page
    var before = result
    var (objects, bare, stale): ([ObjectReference], [RemoteReference], [RemoteReference]) = ([], [], [])
    let contradictions = try link.edit(answerTo: request) { rows in
      (objects, bare) = ([], [])
      for record in page.included { try link.take(record, isWhole: false, &rows) }
      for record in page.records {
        guard let object = try link.take(record, isWhole: false, &rows) else { continue }
        objects.append(object)
        if needsValues, record.values.isEmpty, try rows.isUnloaded(object) {
          bare.append(RemoteReference(record.identifier))
        }
      }
      for identifier in page.deleted { try rows.remove(identifier) }
      stale = rows.stale
      // What is left out of this version, since something newer is known, may be newer than that after all.
      if rows.isOutdated { (page.tag, before.tag) = (nil, nil) }
      if stale.isEmpty { result = add(page, objects, to: before, isFirstPage: isFirstPage, &rows) }
    }
    if !stale.isEmpty {
      // If that fails the page is read again, and asks again.
      try await link.loadListed(stale)
      try link.edit(recordsHistory: false) { rows in
        result = add(page, objects, to: before, isFirstPage: isFirstPage, &rows)
      }
    }
    await link.settle(contradictions)
    try await link.loadListed(bare)
  }

  /// Adds a page to a list.
  private func add(
    _ page: RemotePage, _ objects: [ObjectReference], to result: ResultRow, isFirstPage: Bool, _ rows: inout RecordRows
  ) -> ResultRow {
    var result = result
    let place = result.pages
    result.pages += 1
    if isFirstPage { result.tag = page.tag }
    result.cursor = page.next
    result.isComplete = false
    if let seconds = page.freshFor?.secondsFromNow { result.freshFor = min(result.freshFor ?? seconds, seconds) }
    rows.add { additions in
      for page in 0..<dropped {
        additions.delete(ResultRow.reference(of: page, result.generation, of: key), in: ResultRow.table)
      }
      additions.put(
        ResultPage(objects).bytes, at: ResultRow.reference(of: place, result.generation, of: key), in: ResultRow.table)
      additions.put(result.bytes, at: ResultRow.reference(of: key), in: ResultRow.table)
    }
    return result
  }

  // MARK: The end

  /// Notes that the list is complete. If it says so, objects that it lacks do not exist any more.
  private func complete(_ result: inout ResultRow) async throws {
    let formerGeneration = result.generation - min(1, result.generation)
    let tellsAbsence = query.isExhaustive && query.template.rereads && !query.template.keepsObjects
    let missing = tellsAbsence ? try missing(result, formerGeneration) : []
    if !missing.isEmpty { try await settle(missing: missing, result) }
    result.isComplete = true
    let former = result.formerPages
    result.formerPages = 0
    let written = result
    try link.edit(recordsHistory: false) { rows in
      rows.add { additions in
        for page in 0..<former {
          additions.delete(ResultRow.reference(of: page, formerGeneration, of: key), in: ResultRow.table)
        }
        additions.put(written.bytes, at: ResultRow.reference(of: key), in: ResultRow.table)
      }
    }
  }

  /// The objects that an exhaustive list should have and lacks.
  private func missing(_ result: ResultRow, _ formerGeneration: UInt64) throws -> [RemoteReference] {
    try link.read { rows in
      let listed = Set(try rows.objects(of: result, generation: result.generation, pages: result.pages))
      var candidates = try rows.objects(of: result, generation: formerGeneration, pages: result.formerPages)
      if !query.served.contains(.predicate) {
        let entity = try rows.map(of: entityName).entity
        for map in rows.access.schema.concrete(entity, includingSubentities: true) {
          try rows.snapshot.forEachRow(in: map.number, from: nil) { row in
            candidates.append(ObjectReference(entity: map.number, reference: row.reference))
            return true
          }
        }
      }
      var known = listed
      return try candidates.compactMap { object in
        guard known.insert(object).inserted, let origin = try rows.origin(of: object), !origin.isWaiting,
          origin.readAt < result.begunAt, let identifier = try rows.identifier(of: object)
        else { return nil }
        return RemoteReference(identifier, tag: origin.tag)
      }
    }
  }

  /// A list may have shifted while it was read, and an object may have ceased to satisfy its predicate. So the service
  /// is asked for each object that is missing. If it cannot tell, the list of all objects decides.
  private func settle(missing: [RemoteReference], _ result: ResultRow) async throws {
    var rest = missing[...]
    while !rest.isEmpty {
      let part = Array(rest.prefix(Loads.limit))
      do {
        try await link.readRecords(part)
      } catch RemoteFailure.unsupported {
        guard !query.served.contains(.predicate) else { return }
        let contradictions = try link.edit { rows in for object in rest { try rows.remove(object.identifier) } }
        return await link.settle(contradictions)
      }
      rest = rest.dropFirst(part.count)
    }
  }
}

extension Duration {
  /// Seconds, none of them in the past.
  fileprivate var secondsFromNow: Double { max(0, seconds) }
}

extension RemoteLink {
  /// Takes a record, unless the store has that version in whole already.
  @discardableResult
  func take(_ record: RemoteRecord, isWhole: Bool, _ rows: inout RecordRows) throws -> ObjectReference? {
    if let tag = record.tag, let known = try rows.rows.object(record.identifier),
      let origin = try rows.rows.origin(of: known), origin.tag == tag, !origin.isWaiting,
      let bytes = try rows.bytes(of: known), !FieldReader.isPartial(bytes)
    {
      return known
    }
    return try rows.take(record, isWhole: isWhole)
  }
}

extension RecordRows {
  /// Whether an object has no attribute.
  func isUnloaded(_ object: ObjectReference) throws -> Bool {
    guard let map = access.schema[object.entity], let bytes = try bytes(of: object) else { return false }
    return try access.isUnloaded(bytes, map)
  }
}

extension RowAccess {
  /// Whether a row has no attribute although its entity has some, since its object is not loaded.
  func isUnloaded(_ bytes: [UInt8], _ map: EntityMap) throws -> Bool {
    guard FieldReader.isPartial(bytes) else { return false }
    let known = try RecordRows.numbers(in: bytes)
    return !map.fields.contains { field in
      guard case .attribute = field.kind else { return false }
      return known.contains(field.number)
    }
  }
}

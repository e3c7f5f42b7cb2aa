import CoreData

/// Executes a fetch request over one snapshot.
struct RowFetch {
  let store: RowIncrementalStore
  let context: NSManagedObjectContext?
  /// The snapshot to which the context is pinned; nil if it reads the newest.
  private let pinned: (any RowSnapshot)?

  init(_ store: RowIncrementalStore, _ context: NSManagedObjectContext?) throws {
    self.store = store
    self.context = context
    pinned = try store.pinnedSnapshot(context)
  }

  /// Returns an array of what the request asks for: objects, identifiers, dictionaries or one number.
  func execute(_ request: NSFetchRequest<NSManagedObject>) throws -> Any {
    try store.cache.reading { start in
      try logged(request, results: { results(of: request, in: $0) }) {
        try execute(request, over: $0, $1, readSince: start)
      }
    }
  }

  /// Executes the request, and measures what it reads.
  func report(_ request: NSFetchRequest<NSManagedObject>) throws -> FetchReport {
    try store.cache.reading { start in
      try measured(request, results: { results(of: request, in: $0) }) {
        try execute(request, over: $0, $1, readSince: start)
      }.report
    }
  }

  /// Runs a fetch over a snapshot, and notes in the log what it has read, if there is one.
  func logged<Answer>(
    _ request: NSFetchRequest<NSManagedObject>, results: (Answer) -> Int,
    _ fetch: (any RowSnapshot, DeclaredIndexes) throws -> (answer: Answer, path: (any CustomStringConvertible)?)
  ) throws -> Answer {
    guard FetchLog.isOn else { return try reading(fetch).answer }
    let (answer, report) = try measured(request, results: results, fetch)
    FetchLog.note(request, report)
    return answer
  }

  private func measured<Answer>(
    _ request: NSFetchRequest<NSManagedObject>, results: (Answer) -> Int,
    _ fetch: (any RowSnapshot, DeclaredIndexes) throws -> (answer: Answer, path: (any CustomStringConvertible)?)
  ) throws -> (answer: Answer, report: FetchReport) {
    let clock = ContinuousClock()
    let start = clock.now
    let (snapshot, answer, path) = try reading { stored, indexes in
      let snapshot = CountingSnapshot(stored)
      let (answer, path) = try fetch(snapshot, indexes)
      return (snapshot, answer, path)
    }
    let report = FetchReport(
      entityName: request.entityName ?? "", path: path?.description, entriesRead: snapshot.entries,
      rowsRead: snapshot.rows, results: results(answer), statements: snapshot.statements,
      duration: start.duration(to: clock.now))
    return (answer, report)
  }

  /// Runs a closure with a snapshot and the declared indexes that it has; a second time if those that were expected are
  /// others.
  private func reading<R>(_ body: (any RowSnapshot, DeclaredIndexes) throws -> R) throws -> R {
    do {
      return try reading(isExpecting: true, body)
    } catch is SchemaHasChanged {
      return try reading(isExpecting: false, body)
    }
  }

  private func reading<R>(
    isExpecting: Bool, _ body: (any RowSnapshot, DeclaredIndexes) throws -> R
  ) throws -> R {
    let snapshot = try snapshot()
    guard isExpecting, pinned == nil, let indexes = store.expectedIndexes(in: snapshot) else {
      return try body(snapshot, try store.indexes(in: snapshot))
    }
    let result = try body(snapshot, indexes)
    try (snapshot as? any SchemaExpectingSnapshot)?.compareSchema()
    return result
  }

  private func snapshot() throws -> any RowSnapshot { try pinned ?? store.rows.snapshot() }

  private func results(of request: NSFetchRequest<NSManagedObject>, in answer: Any) -> Int {
    guard let answer = answer as? [Any] else { return 0 }
    return request.resultType == .countResultType ? (answer.first as? NSNumber)?.intValue ?? 0 : answer.count
  }

  /// - Parameter start: The number from ``RowCache/reading(_:)``.
  private func execute(
    _ request: NSFetchRequest<NSManagedObject>, over snapshot: any RowSnapshot, _ indexes: DeclaredIndexes,
    readSince start: UInt64
  ) throws -> (answer: Any, path: (any CustomStringConvertible)?) {
    guard let entity = entity(of: request) else {
      throw StoreFailure.make(NSCoreDataError, "A fetch request has no entity.")
    }
    let isForCount = request.resultType == .countResultType
    guard let map = store.access.schema[entity] else {
      // The store has no number for the entity, so no object of it can have been saved.
      let nothing: [Any] = isForCount ? [NSNumber(value: 0)] : []
      return (nothing, nil)
    }
    let source = RowSource(snapshot, store.access, indexes, context)
    var rows = RowPass(request, of: map, source)
    rows.isLastRead = pinned == nil
    if isForCount, let count = try rows.count() {
      return ([NSNumber(value: request.windowed(count))] as [Any], rows.usedPath)
    }
    var collector = try RowCollector(request, of: map, source, isForCount: isForCount)
    if let names = request.countedGroupNames,
      let (groups, path) = try rows.groups(by: names, areSorted: request.isSorted)
    {
      let answer = collector.dictionaries(of: groups)
      if let failure = source.failure { throw failure }
      return (answer, path)
    }
    if let window = request.sortedWindow, !isForCount, collector.hasRowWindow {
      rows.prepareOrder(request.sortDescriptors ?? [], window)
    }
    func offerRows() throws {
      _ = try rows.offerRows(
        to: &collector, areSorted: isForCount || request.isSorted,
        keepingContents: !collector.hasRowWindow || request.keepsContents)
    }
    func results<Result>(_ make: @escaping (SourceRow) -> Result) throws -> [Result] {
      var results: [Result] = []
      collector.passOn { results.append(make($0)) }
      try offerRows()
      return collector.passesOn ? results : collector.result.map(make)
    }
    let answer: Any
    switch request.resultType {
    case .managedObjectIDResultType:
      answer = try results { [access = store.access] in access.objectID($0.stored.reference, $0.map) }
    case .managedObjectResultType: answer = try results(try objectOfRow(for: request, readSince: start))
    case .dictionaryResultType:
      try offerRows()
      answer = try collector.dictionaries(rehearsing: rows.readsRelated ? source.rehearse : { _ in })
    default:
      try offerRows()
      answer = [NSNumber(value: collector.count)]
    }
    if let failure = source.failure { throw failure }
    return (answer, rows.usedPath)
  }

  /// The rows that a request finds, in their order.
  ///
  /// - Parameter keepingContents: Whether the rows have their contents. Otherwise these are read when they are needed.
  func rows(
    _ request: NSFetchRequest<NSManagedObject>, of map: EntityMap, _ source: RowSource, keepingContents: Bool
  ) throws -> [SourceRow] {
    var rows = RowPass(request, of: map, source)
    var collector = try RowCollector(request, of: map, source, isForCount: false)
    if let window = request.sortedWindow { rows.prepareOrder(request.sortDescriptors ?? [], window) }
    _ = try rows.offerRows(to: &collector, areSorted: request.isSorted, keepingContents: keepingContents)
    let found = collector.result
    if let failure = source.failure { throw failure }
    return found
  }

  func entity(of request: NSFetchRequest<NSManagedObject>) -> NSEntityDescription? {
    if let entity = request.entity, store.access.schema.has(entity) { return entity }
    let model = store.persistentStoreCoordinator?.managedObjectModel
    return request.entityName.flatMap { model?.entitiesByName[$0] } ?? request.entity
  }

  /// Returns a closure that makes the object of a row as a request asks for it.
  private func objectOfRow(
    for request: NSFetchRequest<NSManagedObject>, readSince start: UInt64
  ) throws -> (SourceRow) -> NSManagedObject {
    guard let context else {
      throw StoreFailure.make(NSCoreDataError, "Objects cannot be fetched without a context.")
    }
    let areFaults = request.returnsObjectsAsFaults
    let needsRows = request.includesPropertyValues && !(areFaults && pinned != nil)
    return { row in
      let id = row.objectID
      guard needsRows, row.read() else { return context.object(with: id) }
      let stored = CachedRow(row.kept)
      // The values are likely to be needed soon, unless they are of a former state.
      if pinned == nil { store.cache.set(stored, of: id, readSince: start) }
      // All objects get the rows of this snapshot, even if somebody has saved newer ones meanwhile.
      return areFaults ? context.object(with: id) : context.object(id, of: stored, row.map, store.access)
    }
  }
}

extension NSFetchRequest<NSManagedObject> {
  var isSorted: Bool { sortDescriptors?.isEmpty == false }

  /// How many of the sorted rows the answer needs, its offset included; nil if it needs all.
  fileprivate var sortedWindow: Int? {
    guard isSorted, fetchLimit > 0 else { return nil }
    let (end, overflows) = Swift.max(0, fetchOffset).addingReportingOverflow(fetchLimit)
    return overflows ? nil : end
  }

  /// Whether rows keep their contents until the answer is complete. Otherwise only those in the answer are read again,
  /// if at all: most of the rows that are kept while sorting are not part of the answer, if it is limited.
  fileprivate var keepsContents: Bool {
    let needsContents =
      resultType == .dictionaryResultType || resultType == .managedObjectResultType && includesPropertyValues
    return needsContents && !(isSorted && fetchLimit > 0) || isSorted && !RowCollector.keepsKeys
  }

  /// The number of results, after the offset and up to the limit, if `count` rows satisfy the predicate.
  fileprivate func windowed(_ count: Int) -> Int {
    let rest = Swift.max(0, count - Swift.max(0, fetchOffset))
    return fetchLimit > 0 ? Swift.min(rest, fetchLimit) : rest
  }
}

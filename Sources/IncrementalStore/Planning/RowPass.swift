import CoreData

/// One pass over the rows of an entity that may satisfy a predicate: those that the database finds, those to which an
/// access path leads, or all.
///
/// Whichever it is, the rows come in the same order. The collector evaluates the predicate for each of them, with two
/// exceptions: rows that the predicate names, and rows to which the entries of a relationship lead, and no others. For
/// the latter, the evaluator would read the same relationship.
struct RowPass {
  /// The path on which rows were found; nil if all rows were read.
  private(set) var usedPath: (any CustomStringConvertible)?
  /// The path to the rows; nil if all must be read. A database that searches needs none.
  private lazy var path = planner.path(for: predicate)
  let predicate: NSPredicate?
  private let first: RowReference?
  private let map: EntityMap
  let maps: [EntityMap]
  /// The place of each entity in `maps`, by its number.
  let places: EntityPlaces
  let source: RowSource
  let planner: Planner
  private let reader: CandidateReader
  let partialRows: PartialRowTest?
  private var order: (index: IndexOrder, window: Int)?
  /// The order of the fetch, and how many of the first rows in this order are needed.
  private var sorting: (descriptors: [NSSortDescriptor], window: Int)?
  private let mostRows: Int
  /// Whether evaluating a row reads other rows, or entries.
  private(set) var readsRelated: Bool
  private var page: RowPage
  /// Whether the snapshot is not read again once the rows have been found, with their contents if all or those in a
  /// window of their order were searched for.
  var isLastRead = false

  /// - Parameter mostRows: How many rows may be read, by a scan or in its time.
  init(
    _ predicate: NSPredicate?, of map: EntityMap, includingSubentities: Bool, _ source: RowSource, mostRows: Int = .max
  ) {
    planner = Planner(map, source)
    first = planner.first(for: predicate)
    self.predicate = predicate
    self.map = map
    maps = source.rows.schema.concrete(map.entity, includingSubentities: includingSubentities)
    places = EntityPlaces(maps)
    self.source = source
    self.mostRows = mostRows
    partialRows = PartialRowTest(predicate, source)
    readsRelated = predicate.map { $0.readsRelationships(of: map) } ?? false
    page = RowPage(source, readsRelated: readsRelated)
    reader = CandidateReader(
      source: source, maps: maps, places: places, mostRows: mostRows,
      testsReadRelationships: readsRelated)
  }

  init(_ request: NSFetchRequest<NSManagedObject>, of map: EntityMap, _ source: RowSource) {
    self.init(request.predicate, of: map, includingSubentities: request.includesSubentities, source)
    guard source.snapshot.isRemote, request.resultsReadRelationships(of: map) else { return }
    readsRelated = true
    page = RowPage(source, readsRelated: true)
  }

  /// The number of rows that satisfy the predicate, if it can be told without reading them.
  mutating func count() throws -> Int? {
    guard predicate != nil else { return try source.count(maps) }
    if let search = try search(), search.isExact, partialRows == nil { return try count(search) }
    guard let path, path.isExact, partialRows == nil || path.isCertain,
      let count = try reader.count(path)
    else { return nil }
    usedPath = path
    return count
  }

  /// Has the rows found in the order of sort descriptors, if an index has it and that takes less time.
  ///
  /// - Parameter window: How many of the first rows in this order are needed.
  mutating func prepareOrder(_ descriptors: [NSSortDescriptor], _ window: Int) {
    order = planner.indexes.order(for: descriptors, predicate?.conjuncts ?? []).map { ($0, window) }
    sorting = (descriptors, window)
  }

  /// The rows that satisfy the predicate; nil if too many would have to be read.
  mutating func matching() throws -> [SourceRow]? {
    let request = NSFetchRequest<NSManagedObject>(entityName: map.entity.name ?? "")
    (request.entity, request.predicate) = (map.entity, predicate)
    var collector = try RowCollector(request, of: map, source, isForCount: false)
    let isComplete = try offerRows(to: &collector, areSorted: false, keepingContents: true)
    return isComplete ? collector.result : nil
  }

  /// Offers the rows to a collector until it needs no more.
  ///
  /// - Parameters:
  ///   - areSorted: Whether the collector sorts the rows. Otherwise objects of an entity and of its subentities come in
  ///     one common order, that of their references.
  ///   - keepsContents: Whether the rows that the collector keeps have their contents. Otherwise these are read again
  ///     when they are needed.
  /// - Returns: False if too many rows would have to be read.
  mutating func offerRows(
    to collector: inout RowCollector, areSorted: Bool, keepingContents keepsContents: Bool
  ) throws -> Bool {
    if let search = try search() {
      try offerRows(of: search, to: &collector, areSorted, keepsContents)
    } else if let path, let order, !order.index.isExact,
      let candidates = try reader.candidates(path, lookups: max(64, 4 * order.window))
    {
      usedPath = candidates.path
      try lookUp(fetched(candidates.objects, areSorted)[...], &collector, true)
    } else if let order, try offerInOrder(order.index, &collector) {
      usedPath = order.index
    } else if let path, let candidates = try reader.candidates(path) {
      usedPath = candidates.path
      let objects = fetched(candidates.objects, areSorted)
      try lookUp(objects[...], &collector, keepsContents, areMatches: path.isCertain)
    } else if reader.mostRows < .max, try source.count(maps) > reader.mostRows {
      return false
    } else if maps.count > 1, !areSorted {
      try merge(&collector, keepsContents)
    } else {
      try scan(&collector, keepsContents, needsContents: keepsContents || areSorted || predicate != nil)
    }
    if let failure = source.failure { throw failure }
    return true
  }

  // MARK: Searching

  /// The search of the database for the rows; nil if it does not search.
  private func search(groupedBy groups: Set<String> = []) throws -> (any RowSearch)? {
    guard mostRows == .max, predicate != nil || sorting != nil || !groups.isEmpty,
      let snapshot = source.snapshot as? any SearchingRowSnapshot
    else { return nil }
    let access = source.rows
    return try snapshot.search(
      for: RowQuery(
        tables: maps.map(\.number), predicate: predicate, order: sorting?.descriptors ?? [], groups: groups.sorted(),
        isLastRead: isLastRead && !readsRelated && partialRows == nil,
        reference: { access.reference(ofConstant: $0) }))
  }

  private mutating func count(_ search: any RowSearch) throws -> Int {
    usedPath = search.description
    let (count, hasOthers) = try search.count()
    guard hasOthers else { return count }
    return count + (try matches(of: search, isForCount: true).count)
  }

  /// Has the rows that a search has found and that are not certain evaluated.
  private func matches(of search: any RowSearch, isForCount: Bool) throws -> RowCollector {
    let request = NSFetchRequest<NSManagedObject>(entityName: map.entity.name ?? "")
    (request.entity, request.predicate) = (map.entity, predicate)
    var collector = try RowCollector(request, of: map, source, isForCount: isForCount)
    try search.forEachUncertainRow { found in
      try page.offer(SourceRow(found.row, maps[found.place], source), true, to: &collector)
    }
    try page.offerRest(true, to: &collector)
    if let failure = source.failure { throw failure }
    return collector
  }

  /// The groups of the rows that a search finds; nil if the database does not make them. A group may come in several
  /// parts.
  func searchedGroups(by names: Set<String>) throws -> (groups: [CountedRows], path: String)? {
    guard partialRows == nil, let search = try search(groupedBy: names), search.isExact,
      let found = try search.groups()
    else { return nil }
    let certain = found.map { (SourceRow($0.first.row, maps[$0.first.place], source), $0.count) }
    let others = try matches(of: search, isForCount: false).result.map { ($0, 1) }
    return (certain + others, "\(search.description), grouped")
  }

  private mutating func offerRows(
    of search: any RowSearch, to collector: inout RowCollector, _ areSorted: Bool, _ keepsContents: Bool
  ) throws {
    usedPath = search.description
    if let sorting, search.hasOrder, search.isExact, partialRows == nil {
      let first = min(collector.rowsToSkip, sorting.window)
      if var found = try search.rows(in: first..<sorting.window) {
        usedPath = "\(search.description), in order"
        collector.skip(found.skipped)
        if !found.isInOrder || !collector.takeInOrder() {
          // The collector keeps the order of equal rows.
          found.rows.sort { ($0.place, $0.row.reference) < ($1.place, $1.row.reference) }
        }
        for found in found.rows {
          let row = SourceRow(found.row, maps[found.place], source)
          _ = try page.offer(row, isMatch: found.isCertain, true, to: &collector)
        }
        try page.offerRest(true, to: &collector)
        return
      }
    }
    var check = CancellationCheck()
    try search.forEachRow(isMerged: maps.count > 1 && !areSorted) { found in
      try check.noteRow()
      guard isKnown(found.row, maps[found.place]) else { return true }
      let row = SourceRow(found.row, maps[found.place], source)
      return try page.offer(row, isMatch: found.isCertain && partialRows == nil, keepsContents, to: &collector)
    }
    try page.offerRest(keepsContents, to: &collector)
  }

  /// Those candidates that have one of the entities of the fetch, in the order in which a scan reads them.
  private func fetched(_ candidates: [ObjectReference], _ areSorted: Bool) -> [(object: ObjectReference, place: Int)] {
    var objects: [(object: ObjectReference, place: Int)] = candidates.compactMap { object in
      place(of: object).map { (object, $0) }
    }
    if areSorted, maps.count > 1 {
      objects.sort { ($0.place, $0.object.reference) < ($1.place, $1.object.reference) }
    }
    return objects
  }

  /// The place of an object's entity in `maps`; nil if the fetch is not for the object.
  private func place(of object: ObjectReference) -> Int? {
    guard let place = places[object.entity] else { return nil }
    if let first, object.reference < first { return nil }
    return place
  }

  private func lookUp(
    _ objects: ArraySlice<(object: ObjectReference, place: Int)>, _ collector: inout RowCollector,
    _ keepsContents: Bool, areMatches: Bool = false, needed: Int = 1
  ) throws {
    var probe: SourceRow?
    try source.snapshot.forEachRow(of: objects, needed: needed) { row, place in
      let map = maps[place]
      guard areMatches || isKnown(row, map) else { return true }
      guard !page.keepsRows else {
        return try page.offer(SourceRow(row, map, source), isMatch: areMatches, keepsContents, to: &collector)
      }
      let offered: SourceRow
      if let probe, probe.map === map {
        probe.stored = row
        offered = probe
      } else {
        offered = SourceRow(row, map, source)
        probe = offered
      }
      return offerNow(offered, isMatch: areMatches, keepsContents, &collector)
    }
    try page.offerRest(keepsContents, to: &collector)
  }

  /// Calls `body` with each object that satisfies the predicate, in the order of sort descriptors, if the entries of an
  /// index tell them without their rows.
  ///
  /// - Returns: False if no index does. `body` may have been called nevertheless.
  mutating func forEachObjectInOrder(
    _ descriptors: [NSSortDescriptor], _ body: (ObjectReference, EntityMap) -> Void
  ) throws -> Bool {
    guard partialRows == nil,
      let order = planner.indexes.order(for: descriptors, predicate?.conjuncts ?? []), order.isExact
    else { return false }
    var group = OrderedGroup()
    var check = CancellationCheck()
    var isExact = true
    func pass(on group: (objects: [ObjectReference], haveWholeValues: Bool)) {
      isExact = isExact && group.haveWholeValues
      for (object, place) in fetched(group.objects, true) where isExact { body(object, maps[place]) }
    }
    for range in order.section.ranges {
      try source.forEachObject(in: order.section, range, reverse: order.isReversed, headLength: order.properties) {
        object, _, head in
        try check.noteRow()
        if group.isComplete(before: head) { pass(on: group.take()) }
        group.add(object, head)
        return isExact
      }
    }
    if isExact { pass(on: group.take()) }
    if isExact { usedPath = order }
    return isExact
  }

  /// Offers rows in the order of an index until the collector has enough of them. Rows that are equal as far as the index
  /// tells are offered together, and in the order in which a scan reads them. Rows before the window of the fetch are
  /// not read, if the entries tell which these are.
  ///
  /// - Parameters:
  ///   - isTrusted: Whether the collector need not sort the rows if the index tells their order.
  ///   - skips: Whether entries may be passed over without being read.
  /// - Returns: False if that takes more time than reading all rows. The collector is then as before.
  private func offerInOrder(
    _ order: IndexOrder, _ collector: inout RowCollector, isTrusted: Bool = true, skips: Bool = true
  ) throws -> Bool {
    let before = collector
    let areMatches = order.isExact && partialRows == nil
    let isInOrder = isTrusted && order.isExact && collector.takeInOrder()
    var offer = OrderedOffer(
      isInOrder: isInOrder, readsTogether: isInOrder && areMatches,
      mostWaiting: source.snapshot.isRemote ? 4096 : 16, lookups: try reader.mostLookups,
      rowsToSkip: areMatches ? collector.rowsToSkip : 0)
    for range in skips ? try rest(of: order, &offer) : order.section.ranges {
      try source.forEachObject(in: order.section, range, reverse: order.isReversed, headLength: order.properties) {
        object, _, head in
        if offer.group.isComplete(before: head) {
          guard try offerGroup(&offer, &collector) else { return false }
        }
        offer.group.add(object, head)
        // All of the group would be looked up.
        if !order.isExact, offer.group.count > offer.lookups { offer.lookups = -1 }
        return offer.lookups >= 0
      }
    }
    if offer.lookups >= 0, !offer.isOutOfOrder, !offer.isCut, !collector.hasEnough {
      _ = try offerGroup(&offer, &collector)
    }
    if offer.lookups >= 0, !offer.isOutOfOrder, !offer.isCut { try lookUpWaiting(&offer, &collector) }
    if offer.isCut {
      collector = before
      return try offerInOrder(order, &collector, isTrusted: isTrusted, skips: false)
    }
    if offer.isOutOfOrder {
      collector = before
      return try offerInOrder(order, &collector, isTrusted: false, skips: skips)
    }
    collector.skip(offer.skipped)
    if offer.lookups < 0 { collector = before }
    return offer.lookups >= 0
  }

  /// The ranges of an order without entries that are passed over, since their rows are before the window.
  private func rest(of order: IndexOrder, _ offer: inout OrderedOffer) throws -> [IndexSection.Range] {
    let section = order.section
    guard offer.rowsToSkip > manyEntries, section.ranges.count == 1, first == nil,
      let snapshot = source.snapshot as? any EntrySkippingSnapshot,
      source.indexes.entities(in: section.index).allSatisfy({ places[$0] != nil }),
      let (count, bound) = try snapshot.skipEntries(
        offer.rowsToSkip, from: section.ranges[0].lower, before: section.ranges[0].upper, reverse: order.isReversed)
    else { return section.ranges }
    offer.skip(count)
    offer.mayBeCut = true
    return [
      order.isReversed
        ? IndexSection.Range(lower: section.ranges[0].lower, upper: bound)
        : IndexSection.Range(lower: bound, upper: section.ranges[0].upper)
    ]
  }

  /// Offers the rows of a group, or skips them. Returns whether further rows are needed.
  private func offerGroup(_ offer: inout OrderedOffer, _ collector: inout RowCollector) throws -> Bool {
    if offer.mayBeCut {
      offer.mayBeCut = false
      offer.isCut = offer.group.count > offer.rowsToSkip
      guard !offer.isCut else { return false }
    }
    let isOrdered = offer.group.isOrdered
    if let only = offer.group.takeOnly() {
      guard let place = place(of: only) else { return true }
      guard offer.rowsToSkip == 0 else {
        offer.skip(1)
        return true
      }
      return try offerRows(CollectionOfOne((object: only, place: place)), isOrdered, &offer, &collector)
    }
    let (sorted, haveWholeValues) = offer.group.take()
    var objects = fetched(sorted, true)[...]
    if haveWholeValues || offer.rowsToSkip >= objects.count {
      let count = min(objects.count, offer.rowsToSkip)
      offer.skip(count)
      objects = objects.dropFirst(count)
    }
    return try objects.isEmpty || offerRows(objects, isOrdered, &offer, &collector)
  }

  /// Offers the rows of a group, which is not empty, or has them wait to be read together with others. Returns whether
  /// further rows are needed.
  @inline(__always)
  private func offerRows(
    _ objects: some Collection<(object: ObjectReference, place: Int)>, _ areOrdered: Bool, _ offer: inout OrderedOffer,
    _ collector: inout RowCollector
  ) throws -> Bool {
    offer.isOutOfOrder = offer.isInOrder && !areOrdered
    guard !offer.isOutOfOrder else { return false }
    collector.skip(offer.skipped)
    offer.skipped = 0
    offer.lookups -= objects.count
    if offer.readsTogether {
      offer.waiting += objects
      guard offer.waiting.count >= min(collector.rowsNeeded, offer.mostWaiting) else { return offer.lookups >= 0 }
      try lookUpWaiting(&offer, &collector)
    } else {
      try lookUp(Array(objects)[...], &collector, true)
    }
    return offer.lookups >= 0 && !collector.hasEnough && source.failure == nil
  }

  private func lookUpWaiting(_ offer: inout OrderedOffer, _ collector: inout RowCollector) throws {
    try lookUp(offer.waiting[...], &collector, true, needed: collector.rowsNeeded)
    offer.waiting.removeAll(keepingCapacity: true)
  }

  /// Offers a row that is going to be reused. Returns whether further rows are needed.
  @inline(__always)
  private func offerNow(
    _ row: SourceRow, isMatch: Bool, _ keepsContents: Bool, _ collector: inout RowCollector
  ) -> Bool {
    collector.offer(row, isMatch: isMatch) { keepsContents ? $0.copy() : $0.unread() } && source.failure == nil
  }

  @inline(__always)
  private func isKnown(_ row: StoredRow, _ map: EntityMap) -> Bool {
    partialRows?.isKnown(row.bytes, of: map) ?? true
  }

  private func scan(_ collector: inout RowCollector, _ keepsContents: Bool, needsContents: Bool) throws {
    var goesOn = true
    var check = CancellationCheck()
    for map in maps where goesOn {
      guard needsContents else {
        let probe = SourceRow(.integer(0), map, source)
        try source.snapshot.forEachReference(in: map.number, from: first) { reference in
          try check.noteRow()
          probe.reuse(for: reference)
          goesOn = collector.offer(probe, isMatch: true) { $0.unread() }
          return goesOn
        }
        continue
      }
      let probe = SourceRow(
        StoredRow(reference: .integer(0), bytes: [], version: 0, revision: 0), map, source, sharesMemory: true)
      // What is known of an object that is not loaded in whole is not told by a field alone.
      let test = partialRows == nil ? RowTest(predicate, map, source.rows) : nil
      var holds: Bool?
      try source.snapshot.forEachRow(in: map.number, from: first) { row in
        try check.noteRow()
        holds = test.flatMap { test in test(row) }
        return holds ?? true
      } _: { row in
        guard isKnown(row, map) else { return true }
        guard !page.keepsRows else {
          let row = SourceRow(row.copy(), map, source)
          goesOn = try page.offer(row, isMatch: holds == true, keepsContents, to: &collector)
          return goesOn
        }
        // Swaps the row in and out, so that its bytes have one owner and are not reference-counted.
        swap(&probe.stored, &row)
        goesOn = offerNow(probe, isMatch: holds == true, keepsContents, &collector)
        swap(&probe.stored, &row)
        return goesOn
      }
      if goesOn { goesOn = try page.offerRest(keepsContents, to: &collector) }
    }
  }

  private func merge(_ collector: inout RowCollector, _ keepsContents: Bool) throws {
    var rows = TableMerge(maps, from: first, source.snapshot)
    var check = CancellationCheck()
    try rows.forEachRow { row, map in
      try check.noteRow()
      guard isKnown(row, map) else { return true }
      return try page.offer(SourceRow(row, map, source), keepsContents, to: &collector)
    }
    try page.offerRest(keepsContents, to: &collector)
  }
}

/// How far the rows in the order of an index have been offered to a collector.
private struct OrderedOffer {
  /// Whether the collector relies on the order.
  let isInOrder: Bool
  /// Whether rows of several groups are read together: all are needed if they exist, since they satisfy the predicate.
  let readsTogether: Bool
  /// How many rows are read together at most.
  let mostWaiting: Int
  /// The rows that have not been read yet.
  var waiting: [(object: ObjectReference, place: Int)] = []
  /// Whether a group has turned out not to be in the order of the fetch.
  var isOutOfOrder = false
  /// Whether the next group may be the rest of one of which entries were passed over.
  var mayBeCut = false
  /// Whether the window begins in such a group, whose order its rest does not tell.
  var isCut = false
  var group = OrderedGroup()
  /// How many rows may still be looked up; negative if these were too many.
  var lookups: Int
  /// How many rows before the window of the fetch are still to come.
  var rowsToSkip: Int
  /// How many have come of which the collector has not been told.
  var skipped = 0

  init(isInOrder: Bool, readsTogether: Bool, mostWaiting: Int, lookups: Int, rowsToSkip: Int) {
    (self.isInOrder, self.readsTogether, self.mostWaiting) = (isInOrder, readsTogether, mostWaiting)
    (self.lookups, self.rowsToSkip) = (lookups, rowsToSkip)
  }

  mutating func skip(_ count: Int) {
    rowsToSkip -= count
    skipped += count
  }
}

/// Objects with the same values of the first properties of an index.
private struct OrderedGroup {
  private var objects: [ObjectReference] = []
  private var haveWholeValues = true
  /// Whether the values tell the place of the group among others.
  private(set) var isOrdered = true

  var count: Int { objects.count }

  /// Whether the next object has other values than the objects of the group.
  func isComplete(before head: IndexKey.Head) -> Bool { !objects.isEmpty && !head.isRepeated }

  mutating func add(_ object: ObjectReference, _ head: IndexKey.Head) {
    if objects.isEmpty {
      haveWholeValues = head.isWhole
      isOrdered = head.isWhole && !head.hasNotANumber
    }
    objects.append(object)
  }

  /// The objects in the order of their references, and whether the values that they share are not cut off.
  mutating func take() -> (objects: [ObjectReference], haveWholeValues: Bool) {
    defer { objects = [] }
    return (objects.sorted { $0.reference < $1.reference }, haveWholeValues)
  }

  /// The object of the group; nil, and the group is as before, if there are several.
  mutating func takeOnly() -> ObjectReference? { objects.count == 1 ? objects.removeLast() : nil }
}

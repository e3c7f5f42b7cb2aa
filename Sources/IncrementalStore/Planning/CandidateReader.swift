import CoreData

/// The objects that may satisfy a predicate.
struct Candidates {
  /// Each once, in the order of their references. Candidates of other entities are among them, and objects that no
  /// longer exist.
  let objects: [ObjectReference]
  /// The path that led to them: of alternatives, the one that was taken.
  let path: AccessPath
}

/// Reads which objects an access path leads to, as long as that takes less time than reading all rows.
struct CandidateReader {
  let source: RowSource
  /// The entities of the objects that are fetched.
  let maps: [EntityMap]
  let places: EntityPlaces
  /// How many rows may be read at most, by a scan or in its time.
  let mostRows: Int
  /// How many rows a scan reads and tests in the time in which one row is looked up by its reference.
  private let scannedInALookup: Int

  /// - Parameter testsReadRelationships: Whether the test of a row reads its relationships, which takes as long as
  ///   looking it up.
  init(
    source: RowSource, maps: [EntityMap], places: EntityPlaces, mostRows: Int, testsReadRelationships: Bool
  ) {
    self.source = source
    self.maps = maps
    self.places = places
    self.mostRows = mostRows
    scannedInALookup = testsReadRelationships ? 1 : 3
  }

  /// How many lookups are made without asking how many rows there are.
  private static let few = 1024

  /// The candidates; nil if reading all rows takes less time, or if the entries do not tell.
  func candidates(_ path: AccessPath) throws -> Candidates? {
    let few = min(Self.few, mostRows / scannedInALookup)
    if let candidates = try candidates(path, lookups: few) { return candidates }
    let most = try mostLookups
    return most > few ? try candidates(path, lookups: most) : nil
  }

  /// The number of rows that satisfy the predicate of an exact path; nil if the entries do not tell.
  func count(_ path: AccessPath) throws -> Int? {
    switch path {
    case .opposites(let object, let inverse):
      guard case .toMany(let end) = inverse.end, isFetched(inverse.destination) else { break }
      guard try source.snapshot.stamp(of: object.reference, in: object.entity) != nil else { return nil }
      return try source.snapshot.count(
        [IndexSection.Range(beginningWith: Entry.members(of: object.reference, end.number))])
    case .indexed(let section):
      guard source.indexes.entities(in: section.index).allSatisfy(isFetched) else { break }
      return try source.snapshot.count(section.ranges)
    default: break
    }
    return try candidates(path, lookups: .max)?.objects.count { isFetched($0.entity) }
  }

  private func isFetched(_ entity: UInt32) -> Bool { places[entity] != nil }

  /// Whether all objects of an entity, and of those that inherit from it, are among those that are fetched.
  private func isFetched(_ entity: NSEntityDescription?) -> Bool {
    guard let entity else { return false }
    return source.rows.schema.concrete(entity, includingSubentities: true).allSatisfy { isFetched($0.number) }
  }

  /// How many lookups take no more time than reading all rows.
  var mostLookups: Int { get throws { min(try source.count(maps), mostRows) / scannedInALookup } }

  /// The candidates, unless finding them takes more lookups than that.
  func candidates(_ path: AccessPath, lookups: Int) throws -> Candidates? {
    var lookups = lookups
    guard let (found, path) = try read(path, &lookups) else { return nil }
    return Candidates(objects: found.sortedByReference, path: path)
  }

  /// The objects to which a path leads, in any order, and the path that was taken. Each of them will be looked up.
  ///
  /// - Parameter lookups: How many rows and entries may still be looked up.
  private func read(
    _ path: AccessPath, _ lookups: inout Int
  ) throws -> (objects: [ObjectReference], path: AccessPath)? {
    switch path {
    case .objects(let objects): return lookups.take(objects.count) ? (objects, path) : nil
    case .opposites(let object, let inverse):
      guard lookups.take(1), let row = try source.snapshot.row(object.reference, in: object.entity) else { return nil }
      return try opposites(of: row, object, inverse, source.snapshot, &lookups).map { ($0, path) }
    case .holders(let keys, let constraint):
      guard lookups.take(keys.count) else { return nil }
      return (try keys.flatMap { try holders(of: $0, constraint) }, path)
    case .indexed(let section): return try read(section, &lookups).map { ($0, path) }
    case .related(let related): return try read(related, &lookups).map { ($0, path) }
    case .union(let paths):
      var found: [(objects: [ObjectReference], path: AccessPath)] = []
      for path in paths {
        guard let more = try read(path, &lookups) else { return nil }
        found.append(more)
      }
      return (found.flatMap(\.objects), .union(found.map(\.path)))
    case .shortest(let paths): return try shortest(paths, &lookups)
    }
  }

  /// The objects that relate to an object. Nil if there are too many.
  private func opposites(
    of row: StoredRow, _ object: ObjectReference, _ inverse: AccessPath.Inverse, _ snapshot: any RowSnapshot,
    _ lookups: inout Int
  ) throws -> [ObjectReference]? {
    switch inverse.end {
    case .none: return nil
    case .toOne(let field):
      guard lookups.take(1) else { return nil }
      return try StoreFailure.reading("The row of \(source.rows.name(object))") {
        try FieldReader.field(field, of: row.bytes)?.object(in: row.bytes).map { [$0] } ?? []
      }
    case .toMany(let end):
      var found: [ObjectReference] = []
      let most = lookups
      try snapshot.readMembers(of: object.reference, end) { member in
        found.append(member.member)
        return found.count <= most
      }
      return lookups.take(found.count) ? found : nil
    }
  }

  private func holders(of key: [UInt8], _ constraint: EntityMap.Constraint) throws -> [ObjectReference] {
    var holders: [ObjectReference] = []
    let prefix = Entry.key(key, constraint.number)
    try source.snapshot.forEachEntry(beginningWith: prefix, reverse: false) { entry in
      holders.append(
        try StoreFailure.reading("An entry of the constraint of \(constraint.names.joined(separator: ", "))") {
          try Entry.member(in: entry, after: prefix.count, isOrdered: false).member
        })
      return true
    }
    return holders
  }

  private func read(_ section: IndexSection, _ lookups: inout Int) throws -> [ObjectReference]? {
    var found: [ObjectReference] = []
    for range in section.ranges {
      try source.forEachObject(in: section, range, reverse: false) { object, _, _ in
        found.append(object)
        return found.count <= lookups
      }
    }
    return lookups.take(found.count) ? found : nil
  }

  private func read(_ related: AccessPath.Related, _ lookups: inout Int) throws -> [ObjectReference]? {
    let mostRows = lookups > .max / scannedInALookup ? .max : lookups * scannedInALookup
    var rows = RowPass(related.predicate, of: related.map, includingSubentities: true, source, mostRows: mostRows)
    guard let found = try rows.matching() else { return nil }
    var opposites: [ObjectReference] = []
    var rest = found[...]
    while !rest.isEmpty {
      let rows = rest.prefix(1024)
      let read = try source.snapshot.readingInBulk { try self.opposites(of: rows, related, $0, lookups) }
      guard let (more, left) = read else { return nil }
      lookups = left
      opposites += more
      rest = rest.dropFirst(rows.count)
    }
    return opposites
  }

  /// The objects that relate to one of some rows, and how many lookups are left. Nil if there are too many.
  private func opposites(
    of rows: ArraySlice<SourceRow>, _ related: AccessPath.Related, _ snapshot: any RowSnapshot, _ lookups: Int
  ) throws -> (objects: [ObjectReference], lookups: Int)? {
    var opposites: [ObjectReference] = []
    var lookups = lookups
    for row in rows {
      guard lookups.take(1),
        let more = try self.opposites(of: row.stored, row.reference, related.inverse, snapshot, &lookups)
      else { return nil }
      opposites += more
    }
    return (opposites, lookups)
  }

  /// Tries all paths with few lookups, then with more and more. The last attempt takes most of the time.
  private func shortest(
    _ paths: [AccessPath], _ lookups: inout Int
  ) throws -> (objects: [ObjectReference], path: AccessPath)? {
    var most = min(16, lookups)
    while true {
      for path in paths {
        var attempt = most
        guard let found = try read(path, &attempt) else { continue }
        lookups -= most - attempt
        return found
      }
      guard most < lookups else { return nil }
      most = most > lookups / 8 ? lookups : most * 8
    }
  }
}

extension [ObjectReference] {
  /// The objects in the order of their references, each once.
  fileprivate var sortedByReference: [ObjectReference] {
    if let numbered = sortedByNumber { return numbered }
    var objects: [ObjectReference] = []
    objects.reserveCapacity(count)
    for object in sorted(by: { ($0.reference, $0.entity) < ($1.reference, $1.entity) }) where object != objects.last {
      objects.append(object)
    }
    return objects
  }

  /// The same if all references are numbers, which takes a fraction of the time; nil if they are not.
  private var sortedByNumber: [ObjectReference]? {
    guard count > 1 else { return self }
    var numbered: [(number: Int64, entity: UInt32)] = []
    numbered.reserveCapacity(count)
    for object in self {
      guard case .integer(let number) = object.reference else { return nil }
      numbered.append((number, object.entity))
    }
    numbered.sort { $0.number != $1.number ? $0.number < $1.number : $0.entity < $1.entity }
    var objects: [ObjectReference] = []
    objects.reserveCapacity(count)
    for (place, object) in numbered.enumerated() where place == 0 || object != numbered[place - 1] {
      objects.append(ObjectReference(entity: object.entity, reference: .integer(object.number)))
    }
    return objects
  }
}

/// Passing over more entries than this takes less time than reading them.
let manyEntries = 100

extension RowSnapshot {
  /// The number of entries in ranges that have none in common.
  fileprivate func count(_ ranges: [IndexSection.Range]) throws -> Int {
    try ranges.reduce(0) { try $0 + count($1) }
  }

  private func count(_ range: IndexSection.Range) throws -> Int {
    var count = 0
    var lower = range.lower
    // Most ranges have few entries.
    var most = manyEntries
    while true {
      var isEnd = true
      try forEachEntry(from: lower, before: range.upper, reverse: false) { entry in
        guard count < most else {
          (lower, isEnd) = (entry, false)
          return false
        }
        count += 1
        return true
      }
      guard !isEnd else { return count }
      most = .max
      if let rest = try (self as? any EntrySkippingSnapshot)?.skipEntries(
        .max, from: lower, before: range.upper, reverse: false)
      {
        count += rest.count
        lower = rest.bound
      }
    }
  }
}

extension RowSource {
  /// Calls `body` with each object in a range of an index, with its entry, and with what is known of the entry's first
  /// values, until it returns false.
  ///
  /// - Parameter headLength: How many values are the first ones.
  func forEachObject(
    in section: IndexSection, _ range: IndexSection.Range, reverse: Bool, headLength: Int = 0,
    _ body: (_ object: ObjectReference, _ entry: [UInt8], _ head: IndexKey.Head) throws -> Bool
  ) throws {
    var reader = IndexReader(properties: section.names.count, headLength: headLength)
    try snapshot.forEachEntry(from: range.lower, before: range.upper, reverse: reverse) { entry in
      let (object, head) = try StoreFailure.reading("An entry of \(section)") { try reader.read(entry) }
      return try body(object, entry, head)
    }
  }
}

extension Int {
  /// Takes a number away, unless less than that is left.
  fileprivate mutating func take(_ number: Int) -> Bool {
    guard number <= self else { return false }
    self -= number
    return true
  }
}

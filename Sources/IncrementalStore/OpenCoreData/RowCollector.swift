import OpenCoreData

/// Executes a fetch over rows that are offered one by one, with the compiled form of the request.
typealias RowCollector = FetchCollector<SourceRow>

extension RowCollector {
  /// Whether the collector keeps what it sorts rows by, so that it does not read them again.
  static var keepsKeys: Bool { true }
  /// Whether the collector makes dictionaries of groups of which it knows one row and the number of rows.
  static var takesGroups: Bool { true }
  /// Whether predicates and sort descriptors compare texts by their scalars, as indexes do.
  static var ordersTextsByScalars: Bool { true }

  /// - Throws: `FetchRequestError` if the request does not fit the entity.
  init(_ request: NSFetchRequest<NSManagedObject>, of map: EntityMap, _ source: RowSource, isForCount: Bool) throws {
    let fetch = try CompiledFetch(
      request, of: map.entity, testedBy: try source.test(request.predicate, map), reading: source.reader(of: map))
    self.init(fetch, isForCount: isForCount)
  }
}

/// A predicate that is compiled when it is first evaluated: for a row whose bytes do not tell, and that is not known to
/// satisfy the predicate.
private final class LatePredicate {
  private let predicate: NSPredicate
  private let map: EntityMap
  private let source: RowSource
  private var compiled: CompiledPredicate<SourceRow>?

  init(_ predicate: NSPredicate, _ map: EntityMap, _ source: RowSource) {
    (self.predicate, self.map, self.source) = (predicate, map, source)
  }

  func matches(_ row: SourceRow) throws -> Bool {
    if let compiled { return compiled.matches(row) }
    let made = try CompiledPredicate(predicate, reading: source.reader(of: map))
    compiled = made
    return made.matches(row)
  }
}

extension RowSource {
  /// A test of rows that compiles a predicate late; nil if the predicate must be compiled to know whether it is valid.
  ///
  /// - Throws: `FetchRequestError` if the predicate does not fit the entity.
  fileprivate func test(_ predicate: NSPredicate?, _ map: EntityMap) throws -> ((SourceRow) -> Bool)? {
    guard let predicate else { return nil }
    let late = LatePredicate(predicate, map, self)
    // A predicate about which the bytes tell compares stored properties with constants, so it is valid.
    if let test = RowTest(predicate, map, rows), test.isWhole {
      return { [self] row in
        if row.read(), let holds = test(row.stored.bytes) { return holds }
        return attempt { try late.matches(row) } ?? false
      }
    }
    guard try predicate.isSurelyEvaluable(for: map.entity) else { return nil }
    return { [self] row in attempt { try late.matches(row) } ?? false }
  }

  func reader(of map: EntityMap) -> RowReader<SourceRow> {
    let context = context
    var reader = RowReader<SourceRow> { row in
      context?.object(with: row.objectID)
    } value: { key in
      if let field = map.field(named: key) { return self.value(of: field) }
      if let set = map.set(named: key) { return { row in row.value(of: set) } }
      return NSManagedObjectID.reader(ofObjectKey: key).map { read in { row in read(row.objectID) } }
    }
    reader.identity = { row in row }
    reader.count = { key in map.set(named: key).map { set in { row in row.count(of: set) } } }
    reader.test = { [rows] key, type, constant in
      guard let field = map.field(named: key) else {
        return IdentityTest(key, type, constant, rows).map { test in { row in test(row.reference) } }
      }
      return FieldTest(field, type, constant, rows).map { test in
        { row in row.read() ? test(row.stored.bytes) : nil }
      }
    }
    return reader
  }

  /// A closure that reads a field of rows.
  fileprivate func value(of field: EntityMap.StoredField) -> (SourceRow) -> PredicateValue {
    switch field.kind {
    case .attribute(let attribute):
      return { [self] row in
        row.value(of: field.number, self) { found, bytes in
          try rows.coder.value(found, of: attribute, field.type, in: bytes).predicateValue
        }
      }
    case .toOne:
      return { [self] row in
        row.value(of: field.number, self) { found, bytes in
          if case .null = found.type { .null } else { self.value(of: try rows.object(found, field, bytes)) }
        }
      }
    }
  }

  fileprivate func value(of object: ObjectReference) -> PredicateValue { row(of: object).map { .object($0) } ?? .null }
}

extension SourceRow {
  /// - Parameter source: The source of the row, which takes time to ask for.
  @inline(__always)
  fileprivate func value(
    of field: UInt32, _ source: RowSource, _ decode: (Field, [UInt8]) throws -> PredicateValue
  ) -> PredicateValue {
    guard read() else { return .null }
    do {
      return try FieldReader.field(field, of: stored.bytes).map { try decode($0, stored.bytes) } ?? .null
    } catch {
      source.note((error as? RowDamage).map { StoreFailure.damaged("The row of \(objectID)", $0) } ?? error)
      return .null
    }
  }

  fileprivate func count(of set: EntityMap.StoredSet) -> PredicateValue {
    var count: Int64 = 0
    _ = source.attempt {
      let prefix = Entry.members(of: stored.reference, set.end.number)
      try source.values.forEachEntry(beginningWith: prefix) { _ in
        count += 1
        return true
      }
    }
    return .integer(count)
  }

  fileprivate func value(of set: EntityMap.StoredSet) -> PredicateValue {
    var members: [PredicateValue] = []
    _ = source.attempt {
      try source.values.forEachMember(of: stored.reference, set.end) { members.append(source.value(of: $0.member)) }
    }
    return .collection(members, ordered: set.end.isOrdered)
  }
}

extension SourceRow: KeyValueCoding, Identified {
  func value(forKey key: String) -> Any? { predicateValue(forKey: key) }

  func predicateValue(forKey key: String) -> PredicateValue {
    if let field = map.field(named: key) { return source.value(of: field)(self) }
    if let set = map.set(named: key) { return value(of: set) }
    return NSManagedObjectID.reader(ofObjectKey: key)?(objectID) ?? .null
  }

  var predicateIdentity: AnyHashable { objectID }
}

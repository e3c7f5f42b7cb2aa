import RowFormat

/// Checks that Core Data's rows and entries agree with each other: STORE-FORMAT.md.
///
/// Reads all rows and all packs once, in order; looks up another row for each to-one reference, each row that was
/// touched, each owner of members and each entry of a uniqueness constraint or an index; and for what is known of a
/// remote service, one for each origin and remote identifier, and two for each change in the outbox. Sums of hashes,
/// for each relationship, constraint and index, show whether entries and rows agree; where the sums differ, the checker
/// reads both up to three times more. It keeps in memory the schema, one row, one pack, the members of one owner of an
/// ordered relationship, and what ``Differences`` needs.
struct StructureChecker<Source: StructureSource> {
  let source: Source
  let schema: SchemaIndex
  private let normalized: (String) -> String
  private let report: (StructureFinding) -> Void
  /// By the number of the relationship, constraint or index; 0 for remote identifiers.
  var balances: [UInt32: Balance] = [:]
  private var highest = HighestReference()
  private var entriesAreWhole = true

  private init(
    _ source: Source, _ schema: SchemaIndex, _ normalized: @escaping (String) -> String,
    _ report: @escaping (StructureFinding) -> Void
  ) {
    self.source = source
    self.schema = schema
    self.normalized = normalized
    self.report = report
  }

  /// Reports everything that is wrong, and references to objects that do not exist.
  ///
  /// - Parameter normalized: Returns a text in normalisation form C.
  /// - Throws: What the source throws.
  static func run(
    _ source: Source, normalized: @escaping (String) -> String, _ report: @escaping (StructureFinding) -> Void
  ) throws {
    guard let schema = try StoreHeadCheck.schema(of: source, report) else { return }
    let completed = CompletedSource(source, schema)
    try StructureChecker<CompletedSource<Source>>(completed, SchemaIndex(schema), normalized, report).run()
  }

  private func run() throws {
    var checker = self
    let others = [0, HistoryRecord.table, OriginRow.table, ResultRow.table, OutboxRow.table]
    for table in source.tables where !others.contains(table) { try checker.checkRows(of: table) }
    try HistoryCheck.run(of: source, report)
    try checker.checkRemote()
    try checker.checkTouches()
    try StoreHeadCheck.checkNumbers(of: source, checker.highest, report)
    try checker.checkEntries()
    // The entries of damaged packs would be reported a second time, as missing.
    guard checker.entriesAreWhole else { return }
    for (number, balance) in checker.balances.sorted(by: { $0.key < $1.key }) where !balance.isEven {
      try checker.explain(number)
    }
  }

  func find(_ kind: StructureFinding.Kind, _ place: StructureFinding.Place, _ words: String) {
    report(StructureFinding(kind: kind, place: place, words: words))
  }

  func exists(_ object: ObjectReference) throws -> Bool {
    try schema.entities[object.entity] != nil && source.contains(object.reference, in: object.entity)
  }

  // MARK: Rows

  private mutating func checkRows(of table: UInt32) throws {
    guard !schema.isBeingRemoved(.table(table)) else { return }
    guard let entity = schema.entities[table] else {
      // The rows of an entity that a migration has removed are gone, and its table is empty.
      guard try hasRows(table) else { return }
      return find(.row, .table(table), "the schema has no entity \(table)")
    }
    if entity.isAbstract { find(.row, .table(table), "\(entity.name) is abstract, but has rows") }
    let layout = EntityLayout(table, schema)
    // The closure cannot change `self` while a call on `self.source` is running.
    var copy = self
    try source.forEachRow(in: table) { reference, bytes in try copy.checkRow(reference, bytes, layout) }
    self = copy
  }

  func hasRows(_ table: UInt32) throws -> Bool {
    var hasRows = false
    try source.forEachRow(in: table) { _, _ in hasRows = true }
    return hasRows
  }

  private func checkTouches() throws {
    try source.forEachTouch { reference, table, bytes in
      guard !schema.isBeingRemoved(.table(table)) else { return }
      let place = StructureFinding.Place.touches(reference, table: table)
      if !bytes.isEmpty { find(.row, place, "a row that counts touches must be empty") }
      let object = ObjectReference(entity: table, reference: reference)
      if try !exists(object) { find(.row, place, "\(schema.name(object)), which was touched, does not exist") }
    }
  }

  private mutating func checkRow(_ reference: RowReference, _ bytes: [UInt8], _ layout: EntityLayout) throws {
    let object = ObjectReference(entity: layout.entity, reference: reference)
    let place = StructureFinding.Place.row(reference, table: layout.entity)
    if let problem = highest.take(reference) { find(.row, place, problem) }
    do {
      var fields = try RowFormat.FieldReader(bytes)
      while let (number, field) = try fields.next() {
        guard let property = layout.properties[number] else {
          if schema.isUnassigned(number) { continue }
          throw RowDamage("\(layout.name) has no property \(number)", at: field.range.lowerBound)
        }
        try FieldCheck.check(field, of: property, in: bytes)
        if let target = try field.object(in: bytes) { try checkReference(from: object, to: target, property) }
      }
      for constraint in layout.constraints
      where try UniqueKey.key(of: constraint.attributes, in: bytes, normalized: { $0 }) != nil {
        balances[constraint.number, default: Balance()].addRight(object)
      }
      for index in layout.indexes where index.state == .ready {
        guard try index.key(of: bytes, normalized: normalized) != nil else { continue }
        balances[index.number, default: Balance()].addRight(object)
      }
      if RowFormat.FieldReader.isPartial(bytes), try !source.contains(reference, in: OriginRow.table) {
        find(.row, place, "it is not loaded in whole, but has no origin")
      }
    } catch let damage as RowDamage {
      find(.row, place, "\(damage)")
    }
  }

  private mutating func checkReference(
    from object: ObjectReference, to target: ObjectReference, _ property: Schema.Property
  ) throws {
    let place = StructureFinding.Place.row(object.reference, table: object.entity)
    guard let destination = property.kind.relationship?.destination,
      schema.has(target.entity, propertiesOf: destination)
    else { return find(.row, place, "\(property.name) refers to \(schema.name(target)), which has the wrong entity") }
    let inverse = schema.properties[property.number]?.inverse.flatMap { schema.properties[$0]?.property }
    guard try exists(target) else {
      // A reference to a deleted object remains if the delete rule of the inverse is No Action, or if there is no
      // inverse.
      let mayBe = inverse?.kind.relationship.map { $0.deleteRule == 0 } ?? true
      return find(
        mayBe ? .leadsNowhere : .row, place, "\(property.name) refers to \(schema.name(target)), which does not exist")
    }
    switch inverse?.kind {
    case .toMany:
      balances[inverse?.number ?? 0, default: Balance()].addRight(Membership(owner: target, member: object))
    case .toOne:
      if let row = try source.row(target.reference, in: target.entity),
        !refers(row, inverse?.number ?? 0, to: object)
      {
        find(
          .row, place,
          "\(property.name) refers to \(schema.name(target)), whose \(inverse?.name ?? "") does not refer back")
      }
    case .attribute, nil: break
    }
  }

  /// Whether a row refers to an object in the field with a number. True for a row that cannot be read: that row is
  /// reported when the rows are read in order.
  private func refers(_ row: [UInt8], _ number: UInt32, to object: ObjectReference) -> Bool {
    do {
      return try RowFormat.FieldReader.field(number, of: row)?.object(in: row) == object
    } catch {
      return true
    }
  }

  // MARK: Entries

  private mutating func checkEntries() throws {
    var packs = PackSequence()
    var run = EntryRun()
    var copy = self
    try source.forEachPack(from: []) { bound, bytes in
      do {
        try packs.read(bound, bytes) { entry in try copy.checkEntry(entry, in: bound, &run) }
      } catch let damage as RowDamage {
        copy.entriesAreWhole = false
        copy.find(.pack, .pack(bound), "\(damage)")
      }
      return true
    }
    self = copy
  }

  private mutating func checkEntry(_ bytes: [UInt8], in bound: [UInt8], _ run: inout EntryRun) throws {
    do {
      var input = ByteInput(bytes)
      guard !schema.isBeingRemoved(.entries(try input.number())) else { return }
      switch try EntryContent(bytes, schema) {
      case .member(let relationship, let owner, let member, let position):
        try checkMember(relationship, owner, member, position, bound, &run)
      case .key(let constraint, let key, let holder): try checkKey(constraint, key, holder, bound, &run)
      case .indexed(let index, let key, let object): try checkIndexed(index, key, object, bound)
      case .identified(let identifier, let object): try checkIdentified(identifier, object, bound, &run)
      }
    } catch let damage as RowDamage {
      find(.entry, .pack(bound), "an entry: \(damage)")
    }
  }

  private mutating func checkMember(
    _ relationship: SchemaIndex.Property, _ reference: RowReference, _ member: ObjectReference, _ position: Int64?,
    _ bound: [UInt8], _ run: inout EntryRun
  ) throws {
    let number = relationship.property.number
    let name = relationship.property.name
    if !run.isOf(number, reference) {
      run.begin(number, reference, try owner(reference, relationship.entity))
      if run.owner == nil {
        find(.entry, .pack(bound), "\(name) has members of \(reference), which does not exist")
      }
    }
    guard let owner = run.owner else { return }
    if let problem = run.take(member, position) {
      return find(.entry, .pack(bound), "\(schema.name(member)) in \(name) of \(schema.name(owner)): \(problem)")
    }
    guard let destination = relationship.property.kind.relationship?.destination,
      schema.has(member.entity, propertiesOf: destination)
    else {
      let words = "\(name) of \(schema.name(owner)) has the member \(schema.name(member)), which has the wrong entity"
      return find(.entry, .pack(bound), words)
    }
    let membership = Membership(owner: owner, member: member)
    guard let inverse = relationship.inverse, let kind = schema.properties[inverse]?.property.kind else {
      guard try exists(member) else {
        let words = "\(name) of \(schema.name(owner)) has the member \(schema.name(member)), which does not exist"
        return find(.leadsNowhere, .pack(bound), words)
      }
      return
    }
    if case .toMany = kind, inverse < number {
      balances[inverse, default: Balance()].addRight(membership.reversed)
    } else {
      balances[number, default: Balance()].addLeft(membership)
      if inverse == number { balances[number]?.addRight(membership.reversed) }
    }
  }

  /// The object with a reference, in the table of an entity or of an entity that inherits from it; nil if there is
  /// none.
  func owner(_ reference: RowReference, _ entity: UInt32) throws -> ObjectReference? {
    for table in schema.families[entity] ?? [] where try source.contains(reference, in: table) {
      return ObjectReference(entity: table, reference: reference)
    }
    return nil
  }

  private mutating func checkKey(
    _ constraint: SchemaIndex.Constraint, _ key: [UInt8], _ holder: ObjectReference, _ bound: [UInt8],
    _ run: inout EntryRun
  ) throws {
    let number = constraint.constraint.number
    guard !run.isAgain(number, key) else {
      return find(
        .entry, .pack(bound), "\(schema.name(holder)) has the same key as another object for the constraint \(number)")
    }
    guard schema.has(holder.entity, propertiesOf: constraint.entity),
      let row = try source.row(holder.reference, in: holder.entity)
    else { return find(.entry, .pack(bound), "\(schema.name(holder)) has a key, but does not exist") }
    do {
      guard try has(row, key, constraint) else {
        return find(.entry, .pack(bound), "\(schema.name(holder)) has a key that does not match its row")
      }
      balances[number, default: Balance()].addLeft(holder)
    } catch {
      // The row is reported when the rows are read in order, and no balance counts it.
    }
  }

  private mutating func checkIndexed(
    _ index: Schema.Index, _ key: [UInt8], _ object: ObjectReference, _ bound: [UInt8]
  ) throws {
    guard index.state != .dropping else { return }
    guard schema.has(object.entity, propertiesOf: index.entity),
      let row = try source.row(object.reference, in: object.entity)
    else {
      return find(
        .entry, .pack(bound), "\(schema.name(object)) is in the index \(index.number), but does not exist")
    }
    do {
      guard try has(row, key, index) else {
        return find(
          .entry, .pack(bound), "\(schema.name(object)) is in the index \(index.number) with a key of another row")
      }
      if index.state == .ready { balances[index.number, default: Balance()].addLeft(object) }
    } catch {
      // The row is reported when the rows are read in order, and no balance counts it.
    }
  }

  /// Whether a row has a key in an index.
  func has(_ row: [UInt8], _ key: [UInt8], _ index: Schema.Index) throws(RowDamage) -> Bool {
    try index.key(of: row, normalized: normalized) == key
  }

  /// Whether a row has a key.
  func has(_ row: [UInt8], _ key: [UInt8], _ constraint: SchemaIndex.Constraint) throws(RowDamage) -> Bool {
    try UniqueKey.key(of: constraint.constraint.attributes, in: row, normalized: normalized) == key
  }
}

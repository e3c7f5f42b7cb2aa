/// The values of an object, and the row that they come from. Only the functions in this file write them.
struct ObjectContent {
  /// One value for each slot of the layout; none for a fault, unless one of its relationships was changed from the
  /// other end, and none while the row has been read but not decoded.
  fileprivate(set) var values: [ManagedValue] = []
  /// The row as far as the context knows it; nil for a fault, and for an object that was never saved.
  fileprivate(set) var snapshot: RowSnapshot?

  init() {}
}

/// Whether the row of an object has been read.
struct ObjectReading {
  /// The row has not been read.
  fileprivate(set) var isFault = false
  /// The row was found to be gone.
  fileprivate(set) var isInaccessible = false
  /// How many values have been read of a row that is not decoded.
  fileprivate var decodedValues: UInt8 = 0
  /// The number of the batch of faults that are read together; 0 for none.
  fileprivate(set) var batch: UInt32 = 0

  init() {}
}

extension NSManagedObject {
  /// One value for each slot; none for most faults. Decodes the row.
  final var values: [ManagedValue] {
    if isEncoded, let snapshot { unsafe content.values = snapshot.values }
    return unsafe content.values
  }

  /// Whether ``values`` has a value for each slot.
  final var hasValues: Bool { hasOwnValues || isEncoded }

  /// Whether the object has values apart from its row.
  final var hasOwnValues: Bool { unsafe !content.values.isEmpty }

  /// The value of a slot apart from the row; nil if there is none, or the row has not been decoded.
  final func ownValue(at place: Int) -> ManagedValue? { hasOwnValues ? unsafe content.values[place] : nil }

  /// Whether the row has been read but not decoded.
  private var isEncoded: Bool { !hasOwnValues && !isFault && snapshot != nil }

  /// The value of a slot. The object must have values. A value is decoded alone until as many have been read as there
  /// are slots: then it would have taken no longer to decode all of them once.
  final func value(inSlot place: Int) -> ManagedValue {
    guard isEncoded, reading.decodedValues < UInt8(clamping: layout.slots.count), let snapshot = unsafe content.snapshot
    else { return values[place] }
    reading.decodedValues += 1
    return snapshot.value(at: place)
  }

  /// The objects that the object refers to.
  final var relatedObjects: [NSManagedObject] {
    var objects: [NSManagedObject] = []
    for value in unsafe content.values {
      switch value {
      case .object(let object): objects.append(object)
      case .members(let members): objects += members.elements
      case .fetched(let fetched): objects += fetched
      default: break
      }
    }
    return objects
  }

  final var snapshot: RowSnapshot? { unsafe content.snapshot }
  final var isInaccessible: Bool { reading.isInaccessible }

  // MARK: One value

  /// Changes a value. The current event notes the former values.
  final func change(at place: Int, to value: ManagedValue) {
    noteEvent()
    put(value, at: place)
  }

  /// Puts a value into a slot without noting a change: the same value in another form, the committed one, or one that
  /// is noted in another way.
  final func put(_ value: ManagedValue, at place: Int) {
    if isEncoded { unsafe content.values = values }
    unsafe content.values[place] = value
  }

  // MARK: All values

  /// Takes the values of a newly made object.
  final func takeDefaults() {
    unsafe content.values = layout.defaults.map { value in
      // Each object has members of its own.
      if case .members(let members) = value {
        .members(RelatedObjects(isOrdered: members.isOrdered, members: ObjectList()))
      } else {
        value
      }
    }
    reading.isFault = false
  }

  /// Gives a fault a slot for each property, so that some relationships can be known while the row is not.
  final func takeUnreadSlots() { unsafe content.values = layout.slots.map { _ in .fault } }

  /// Takes a row, whose values are decoded when they are read.
  final func take(encoded row: RowSnapshot) {
    unsafe content.snapshot = row
    reading.isFault = false
    reading.decodedValues = 0
  }

  /// Takes the values of a row.
  final func take(_ values: [ManagedValue], _ snapshot: RowSnapshot) {
    unsafe content.values = values
    unsafe content.snapshot = snapshot
    reading.isFault = false
  }

  /// Makes the current values the committed ones, with the version of the row; the version is nil for an object whose
  /// row was never read.
  final func commit(version: UInt64?, _ revision: UInt64?, before: UInt64?) {
    let layout = layout
    let values = values
    if !values.isEmpty {
      for place in layout.toManys { if case .members(let members) = values[place] { members.commit() } }
    }
    guard let version else {
      unsafe content.values = []
      return
    }
    var committed = values
    for place in layout.outsideSnapshot { committed[place] = layout.blank[place] }
    for place in layout.toOnes {
      if case .object(let object) = committed[place] { committed[place] = .reference(object.objectID) }
    }
    unsafe content.snapshot = RowSnapshot(
      values: committed, version: version, revision: revision, versionBeforeSave: before)
  }

  /// Makes the transient values count as saved.
  final func commitTransients() {
    guard !layout.transients.isEmpty, hasValues else { return }
    unsafe content.snapshot = snapshot?.replacing(layout.transients, by: values)
  }

  /// Notes the version of the row that the store has told. Until now it was assumed.
  final func confirm(version: UInt64) {
    unsafe content.snapshot = snapshot.map { RowSnapshot(values: $0.values, version: version, revision: $0.revision) }
  }

  /// Makes a row that was read before the committed one at some places, with its version. The values stay.
  final func count(asRead row: RowSnapshot, replacing places: [Int]) {
    guard let snapshot else { return }
    unsafe content.snapshot = RowSnapshot(
      values: snapshot.replacing(places, by: row.values).values, version: row.version, revision: row.revision)
  }

  /// Makes the current values those that the parent of the context has.
  final func commitToParent() {
    commit(version: isInserted ? 0 : snapshot?.version, snapshot?.revision, before: snapshot?.versionBeforeSave)
  }

  /// Notes the batch of a fault, and returns the former one.
  final func join(batch: UInt32) -> UInt32 {
    defer { reading.batch = batch }
    return reading.batch
  }

  /// Forgets what the row has at a place: the identifier of an object that exists no more.
  final func forgetRow(at place: Int) { unsafe content.snapshot = snapshot?.replacing([place], by: layout.blank) }

  // MARK: Without a row

  /// Makes the object a fault that keeps its values, if it has any.
  final func markAsFault() { reading.isFault = true }

  /// Discards all values and turns the object into a fault.
  final func turnIntoFault() {
    guard !isFault else {
      unsafe content.values = []
      return
    }
    willTurnIntoFault()
    unsafe content.values = []
    unsafe content.snapshot = nil
    reading.isFault = true
    didTurnIntoFault()
  }

  /// Discards all values, without calling `willTurnIntoFault()` and `didTurnIntoFault()`.
  final func forgetValues() {
    unsafe content = ObjectContent()
    reading.isFault = true
    reading.isInaccessible = false
  }

  /// Forgets the row, which is gone or no longer that of the object. The values stay.
  final func loseRow() {
    unsafe content.values = values
    unsafe content.snapshot = nil
    reading.isInaccessible = false
  }

  /// Empties the object, because its row was found to be gone.
  final func becomeInaccessible() {
    unsafe content.values = layout.slots.map { slot in
      guard case .toMany(let relationship) = slot.kind else { return .null }
      return .members(RelatedObjects(isOrdered: relationship.isOrdered, members: ObjectList()))
    }
    reading.isFault = false
    reading.isInaccessible = true
  }

  /// Notes that the row exists again.
  final func becomeAccessible() { reading.isInaccessible = false }
}

public import Foundation

/// An object of an entity: values for its properties, in a context that tracks what changes.
///
/// An object belongs to the queue of its context; see ``NSManagedObjectContext/perform(_:)``. Used elsewhere it ends the program. Only
/// ``objectID``, ``entity`` and ``managedObjectContext`` may be read from anywhere.
///
/// Subclasses are found by the class name of their entity. They must not override `isEqual(_:)` and `hash`, and one that overrides
/// ``init(entity:insertInto:)`` says `required override`.
open class NSManagedObject: NSObject, NSFetchRequestResult, KeyValueCoding {
  /// What an object is to its context.
  struct State: OptionSet {
    let rawValue: UInt16

    /// Its row was not read.
    static let fault = State(rawValue: 1 << 0)
    static let inserted = State(rawValue: 1 << 1)
    static let updated = State(rawValue: 1 << 2)
    static let deleted = State(rawValue: 1 << 3)
    /// Its changes are noted among those of the current event.
    static let changedInEvent = State(rawValue: 1 << 4)
    /// Its row was found to be gone.
    static let inaccessible = State(rawValue: 1 << 5)
    /// Its version is to be checked by the next save.
    static let locked = State(rawValue: 1 << 6)
    /// It is being told that it is going to be deleted.
    static let preparing = State(rawValue: 1 << 8)
    /// It is deleted here, and its row is gone already.
    static let gone = State(rawValue: 1 << 9)
    /// It is inserted again, because its row is gone; stores know it.
    static let reinserted = State(rawValue: 1 << 10)
    /// A primitive value of a relationship was set, and the other ends do not know yet.
    static let primitivelyRelated = State(rawValue: 1 << 11)
    /// It is being realised, or given what it is inserted with: nothing is noted.
    static let quiet = State(rawValue: 1 << 7)
  }

  /// What identifies the object: temporary until it is saved. May be read from any thread while it does not change.
  public internal(set) final var objectID: NSManagedObjectID

  /// One for each slot of the layout; none for a fault, unless a relationship of it was changed from the other end.
  final var values: [ManagedValue] = []
  /// What the store has, as far as the context knows; nil for a fault, and for what was never saved.
  final var snapshot: RowSnapshot?
  /// What leads to the context; nil for an object in none.
  final var registry: ObjectRegistry?
  final var state: State = []

  /// An object of an entity, inserted into a context if there is one.
  ///
  /// The class should be that of the entity. Attributes have their default values.
  public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    entity.freezeModel()
    if let context, let id = context.faultInTheMaking {
      context.faultInTheMaking = nil
      objectID = id
      super.init()
      state = .fault
      context.register(self)
      return
    }
    precondition(!entity.isAbstract, "\(entity.name ?? "") is abstract: there are only objects of its subentities.")
    objectID = NSManagedObjectID(temporaryFor: entity)
    super.init()
    takeDefaults()
    context?.insert(self)
  }

  /// An object of the entity that has this class, inserted into a context.
  ///
  /// One entity of the context's model must have the class.
  public required convenience init(context moc: NSManagedObjectContext) {
    self.init(entity: moc.entity(of: Self.self), insertInto: moc)
  }

  deinit {
    guard let registry else { return }
    registry.objectIsFreed(self)
    // Objects that only this one refers to would be freed within this call, those that they refer to within theirs, and so on.
    guard !values.isEmpty, registry.isOwned else { return }
    var waiting = takeRelated()
    while var object = waiting.popLast() {
      if isKnownUniquelyReferenced(&object), !object.hasChanges { waiting += object.takeRelated() }
    }
  }

  // MARK: Its entity

  /// The entity that has this class, in a model that is in use. Exactly one must have.
  open class func entity() -> NSEntityDescription { ModelsInUse.shared.entity(of: self) }

  /// A request for the objects of the entity that has this class.
  ///
  /// Where nothing says which type of request is wanted, the one with results of this class is.
  @_disfavoredOverload
  open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    NSFetchRequest(entityName: entity().name ?? "")
  }

  // MARK: What it is

  /// The entity it is of.
  public final var entity: NSEntityDescription { objectID.entity }

  /// The context it is in; nil once that is gone.
  public final var managedObjectContext: NSManagedObjectContext? { registry?.context }

  /// Whether it was inserted since the last save.
  public final var isInserted: Bool { state.contains(.inserted) }

  /// Whether it was changed since the last save, and not inserted.
  public final var isUpdated: Bool { state.contains(.updated) }

  /// Whether the next save deletes it.
  public final var isDeleted: Bool { state.contains(.deleted) }

  /// Whether its values were not read from the store; reading one makes it read all.
  public final var isFault: Bool { state.contains(.fault) }

  /// 0 if its values are there, else 1.
  public final var faultingState: Int { isFault ? 1 : 0 }

  /// Whether it was inserted, changed or deleted since the last save.
  public final var hasChanges: Bool { !state.isDisjoint(with: [.inserted, .updated, .deleted]) }

  /// Whether changes of properties that were never modelled are ignored; there are none here.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  /// What it is and has. Fires no fault.
  open override var description: String {
    let values = isFault ? "<fault>" : values.indices.map(text).joined(separator: ", ")
    return
      "<\(type(of: self))> (entity: \(entity.name ?? ""); id: \(objectID.uriRepresentation().absoluteString); data: \(values))"
  }

  // MARK: Values

  /// The value of a property: numbers as `NSNumber`, a to-one relationship as the object, a to-many one as an `NSSet` or `NSOrderedSet`.
  ///
  /// Fires a fault. `self`, `objectID`, `entity`, `managedObjectContext`, `description`, `hasChanges`, `isInserted`, `isUpdated`,
  /// `isDeleted` and `isFault` are keys, too. Ends the program for any other key that the entity does not have,
  /// unless overridden. A fault whose row is gone is dealt with as ``NSManagedObjectContext/shouldDeleteInaccessibleFaults`` says.
  open func value(forKey key: String) -> Any? {
    checkQueue()
    guard let place = layout.place(of: key) else { return value(forUnmodelledKey: key) }
    willAccessValue(forKey: key)
    let value = value(at: place)
    didAccessValue(forKey: key)
    return value
  }

  /// Sets the value of a property, and the other end of a relationship that has an inverse.
  ///
  /// Ends the program for a key that the entity does not have, and for a value of another kind than the property's.
  open func setValue(_ value: Any?, forKey key: String) {
    checkQueue()
    guard let place = layout.place(of: key) else { undefined(key) }
    willChangeValue(forKey: key)
    set(value, at: place)
  }

  /// The value of a property, as ``value(forKey:)`` and ``setValue(_:forKey:)`` have it.
  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value of a property, without firing a fault and without telling anybody; nil where it was not read.
  open func primitiveValue(forKey key: String) -> Any? {
    checkQueue()
    guard let place = layout.place(of: key) else { undefined(key) }
    return values.isEmpty ? nil : value(at: place)
  }

  /// Sets a value without noting the change and without changing the other end of a relationship.
  ///
  /// Custom accessors call it between ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)``, which notes the change and
  /// changes the other end.
  open func setPrimitiveValue(_ value: Any?, forKey key: String) {
    checkQueue()
    guard let place = layout.place(of: key) else { undefined(key) }
    fireFault(key)
    setPrimitive(value, at: place)
  }

  /// Called before a value is read; fires a fault.
  open func willAccessValue(forKey key: String?) { fireFault(key) }

  /// Called after a value was read.
  open func didAccessValue(forKey key: String?) {}

  /// Called before a value changes; fires a fault.
  open func willChangeValue(forKey key: String) { fireFault(key) }

  /// Called after a value has changed; notes the change, and changes the other end of a relationship whose primitive value was set.
  open func didChangeValue(forKey key: String) { notePrimitiveChange(key) }

  /// Called before members of a to-many relationship change.
  open func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
  ) {}

  /// Called after members of a to-many relationship have changed; notes the change.
  open func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
  ) { notePrimitiveChange(inKey) }

  // MARK: Life

  /// Called once, after it was inserted into a context and has its default values.
  open func awakeFromInsert() {}

  /// Called each time its row was read.
  open func awakeFromFetch() {}

  /// Called after its values were taken back or merged.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

  /// Called when ``NSManagedObjectContext/delete(_:)`` is, before anything happens.
  open func prepareForDeletion() {}

  /// Called before it is saved; again, if it is changed by it. Changes made here are saved.
  open func willSave() {}

  /// Called after it was saved.
  open func didSave() {}

  /// Called before its values are forgotten.
  open func willTurnIntoFault() {}

  /// Called after its values were forgotten.
  open func didTurnIntoFault() {}

  // MARK: Validation

  /// Whether a value is right for a property, on its own; may replace the value.
  ///
  /// Throws a validation error with its code: a value is missing, out of its bounds, or there are too few or too many objects.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    guard let place = layout.place(of: key) else { undefined(key) }
    try validate(value, layout.slots[place])
  }

  /// Whether it can be deleted: throws if a relationship with the delete rule *deny* still has objects.
  open func validateForDelete() throws { try validateDeletion() }

  /// Whether all its values are right; throws one error, or one that has several.
  open func validateForInsert() throws { try validateValues() }

  /// Whether all its values are right; throws one error, or one that has several.
  open func validateForUpdate() throws { try validateValues() }
}

/// How members of a set change. Foundation has it on Apple's platforms only.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
  /// Objects are added.
  case union = 1
  /// Objects are removed.
  case minus = 2
  /// All other objects are removed.
  case intersect = 3
  /// All objects are replaced.
  case set = 4
}

/// Why values were taken back or merged.
public struct NSSnapshotEventType: OptionSet, Sendable {
  /// The number by which Core Data knows it.
  public let rawValue: UInt

  /// What has the number.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// An insertion was undone.
  public static var undoInsertion: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 1) }
  /// A deletion was undone.
  public static var undoDeletion: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 2) }
  /// A change was undone.
  public static var undoUpdate: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 3) }
  /// The context was rolled back.
  public static var rollback: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 4) }
  /// The row was read again.
  public static var refresh: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 5) }
  /// A conflict was resolved.
  public static var mergePolicy: NSSnapshotEventType { NSSnapshotEventType(rawValue: 1 << 6) }
}

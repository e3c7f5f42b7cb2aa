public import Foundation

/// An object of an entity: values for its properties, in a context that tracks their changes.
///
/// An object belongs to the queue of its context; see ``NSManagedObjectContext/perform(_:)``. Using it elsewhere ends
/// the program. Only ``objectID``, ``entity`` and ``managedObjectContext`` may be read from any thread.
///
/// The class of an entity's objects is found by the entity's class name. A subclass must not override `isEqual(_:)` or
/// `hash`; if it overrides ``init(entity:insertInto:)``, it declares it as `required init`.
open class NSManagedObject: NSObject, NSFetchRequestResult, KeyValueCoding {
  /// The identifier of the object, which is temporary until the object is saved. May be read from any thread while it
  /// does not change.
  public final var objectID: NSManagedObjectID { identifier }

  /// The compiler checks each access to a stored property that other modules can read.
  final var identifier: NSManagedObjectID
  /// The application's code runs while the content changes only where an object is freed, and then sees the new content:
  /// the compiler need not have each access checked.
  @exclusivity(unchecked) final var content = ObjectContent()
  final var reading = ObjectReading()
  /// The link to the context; nil for an object in no context.
  final var registry: ObjectRegistry?
  final var state = ObjectState()
  final var eventState = ObjectEventState()
  /// Whether somebody has observed one of its properties.
  final var isObserved = false

  /// Makes an object of an entity, and inserts it into a context if there is one.
  ///
  /// The class should be that of the entity. Attributes have their default values.
  public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    entity.freezeModel()
    if let context, let id = context.faultInTheMaking {
      context.faultInTheMaking = nil
      identifier = id
      super.init()
      markAsFault()
      context.register(self)
      return
    }
    require(!entity.isAbstract, "\(entity.name ?? "") is abstract: there are only objects of its subentities.")
    identifier = NSManagedObjectID(temporaryFor: entity)
    super.init()
    takeDefaults()
    context?.insert(self)
  }

  /// Makes an object of the entity that has this class, and inserts it into a context.
  ///
  /// Exactly one entity of the context's model must have the class.
  public required convenience init(context moc: NSManagedObjectContext) {
    self.init(entity: moc.entity(of: Self.self), insertInto: moc)
  }

  deinit {
    guard let registry else { return }
    registry.objectIsFreed(self)
    // Without this loop, objects that only this one refers to would be freed within this call, the objects that only
    // they refer to within theirs, and so on.
    guard hasOwnValues, registry.isOwned else { return }
    var waiting = takeRelated()
    while var object = waiting.popLast() {
      if isKnownUniquelyReferenced(&object), !object.hasChanges { waiting += object.takeRelated() }
    }
  }

  // MARK: Its entity

  /// The entity that has this class, in a model that is in use. Exactly one entity must have it.
  open class func entity() -> NSEntityDescription { ModelsInUse.shared.entity(of: self) }

  /// A request for the objects of the entity that has this class.
  ///
  /// If no type of request is asked for, the compiler prefers the overload whose results are of this class.
  @_disfavoredOverload
  open class func fetchRequest() -> NSFetchRequest<any NSFetchRequestResult> {
    NSFetchRequest(entityName: entity().name ?? "")
  }

  // MARK: State

  /// The entity of the object.
  public final var entity: NSEntityDescription { objectID.entity }

  /// The context that the object is in; nil if it is in none or the context is gone.
  public final var managedObjectContext: NSManagedObjectContext? { registry?.context }

  /// Whether it was inserted since the last save.
  public final var isInserted: Bool { state.isInserted }

  /// Whether it was changed since the last save, and not inserted.
  public final var isUpdated: Bool { state.change == .updated }

  /// Whether the next save deletes it.
  public final var isDeleted: Bool { state.isDeleted }

  /// Whether its values have not been read from the store; reading one value reads all of them.
  public final var isFault: Bool { reading.isFault }

  /// 0 if its values have been read, otherwise 1.
  public final var faultingState: Int { isFault ? 1 : 0 }

  /// Whether it was inserted, changed or deleted since the last save.
  public final var hasChanges: Bool { state.change != .none }

  /// Whether changes of properties that are not in the model are ignored. Has no effect, because such changes are not
  /// tracked here.
  open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

  /// The object's class, entity, identifier and values as a text. Fires no fault.
  open override var description: String {
    let values = isFault ? "<fault>" : values.indices.map(text).joined(separator: ", ")
    return
      "<\(type(of: self))> (entity: \(entity.name ?? ""); id: \(objectID.uriRepresentation().absoluteString); data: \(values))"
  }

  // MARK: Values

  /// The value of a property: numbers as `NSNumber`, a to-one relationship as the object, a to-many one as an `NSSet`
  /// or `NSOrderedSet`.
  ///
  /// Fires a fault. `self`, `objectID`, `entity`, `managedObjectContext`, `description`, `hasChanges`, `isInserted`,
  /// `isUpdated`, `isDeleted` and `isFault` are keys, too. Ends the program for any other key that the entity does not
  /// have, unless overridden. ``NSManagedObjectContext/shouldDeleteInaccessibleFaults`` determines what happens to a
  /// fault whose row is gone.
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

  /// The value of a property, read with ``value(forKey:)`` and set with ``setValue(_:forKey:)``.
  public final subscript(key: String) -> Any? {
    get { value(forKey: key) }
    set { setValue(newValue, forKey: key) }
  }

  /// The value of a property, without firing a fault and without calling ``willAccessValue(forKey:)`` and
  /// ``didAccessValue(forKey:)``; nil if the object has not been read.
  open func primitiveValue(forKey key: String) -> Any? {
    checkQueue()
    guard let place = layout.place(of: key) else { undefined(key) }
    return value(at: place)
  }

  /// Sets a value without recording the change and without changing the other end of a relationship.
  ///
  /// Custom accessors call it between ``willChangeValue(forKey:)`` and ``didChangeValue(forKey:)``, which records the
  /// change and changes the other end.
  open func setPrimitiveValue(_ value: Any?, forKey key: String) {
    checkQueue()
    guard let place = layout.place(of: key) else { undefined(key) }
    fireFault(key)
    setPrimitive(value, at: place)
  }

  /// Called before a value is read; fires a fault.
  open func willAccessValue(forKey key: String?) { fireFault(key) }

  /// Called after a value was read.
  open func didAccessValue(forKey key: String?) {
    if let key { noteAccess(key) }
  }

  /// Called before a value changes; fires a fault.
  open func willChangeValue(forKey key: String) { fireFault(key) }

  /// Called after a value has changed; records the change, and changes the other end of a relationship whose primitive
  /// value was set.
  open func didChangeValue(forKey key: String) {
    notePrimitiveChange(key)
    noteObservedChange(key)
  }

  /// Called before members of a to-many relationship change.
  open func willChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
  ) {}

  /// Called after members of a to-many relationship have changed; records the change.
  open func didChangeValue(
    forKey inKey: String, withSetMutation inMutationKind: NSKeyValueSetMutationKind, using inObjects: Set<AnyHashable>
  ) {
    notePrimitiveChange(inKey)
    noteObservedChange(inKey)
  }

  // MARK: Life

  /// Called once, after the object was inserted into a context and has its default values.
  open func awakeFromInsert() {}

  /// Called each time after the object's row was read.
  open func awakeFromFetch() {}

  /// Called after the object's values were rolled back or merged.
  open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

  /// Called by ``NSManagedObjectContext/delete(_:)`` before anything else happens.
  open func prepareForDeletion() {}

  /// Called before the object is saved, and again if it has been changed by such a call. Changes made here are saved.
  open func willSave() {}

  /// Called after the object was saved.
  open func didSave() {}

  /// Called before the object's values are discarded.
  open func willTurnIntoFault() {}

  /// Called after the object's values were discarded.
  open func didTurnIntoFault() {}

  // MARK: Validation

  /// Checks that a value is valid for a property, on its own; may replace the value.
  ///
  /// - Throws: a validation error whose code says what is wrong: a value is missing, out of its bounds or rejected by a
  ///   validation predicate, or there are too few or too many objects.
  open func validateValue(_ value: inout Any?, forKey key: String) throws {
    guard let place = layout.place(of: key) else { undefined(key) }
    try validate(value, layout.slots[place])
  }

  /// Checks that the object can be deleted; throws if a relationship with the delete rule *deny* still has objects.
  open func validateForDelete() throws { try validateDeletion() }

  /// Checks that all values are valid; throws one error, or one that contains several.
  open func validateForInsert() throws { try validateValues() }

  /// Checks that all values are valid; throws one error, or one that contains several.
  open func validateForUpdate() throws { try validateValues() }
}

/// How members of a set change. Foundation has this type on Apple's platforms only.
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

/// Why an object's values were rolled back or merged.
public struct NSSnapshotEventType: OptionSet, Sendable {
  /// The raw value, as in Core Data.
  public let rawValue: UInt

  /// Makes a set of events from its raw value.
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

import Foundation

/// The values of the objects that a batch request inserts, one object after the other.
package final class BatchInsertion {
  /// The values of one object.
  package struct Object {
    /// The values, one for each slot of the entity. To-many relationships have none.
    package fileprivate(set) var values: [ManagedValue]
    /// The slots that were set, if they were asked for.
    package fileprivate(set) var given: [Int] = []

    /// Takes over values of an object.
    mutating func take(_ slots: [Int], of other: Object, _ layout: EntityLayout) {
      for slot in slots { values[slot] = other.values[slot] }
      layout.derive(&values, fromOthers: true)
    }
  }

  /// Where the objects come from.
  private enum Source {
    case dictionaries([[String: Any]])
    case dictionaryHandler((NSMutableDictionary) -> Bool)
    case objectHandler((NSManagedObject) -> Bool)

    /// Nil if the request has nothing that makes objects.
    init?(_ request: NSBatchInsertRequest) {
      if let dictionaries = request.objectsToInsert {
        self = .dictionaries(dictionaries)
      } else if let handler = request.dictionaryHandler {
        self = .dictionaryHandler(handler)
      } else if let handler = request.managedObjectHandler {
        self = .objectHandler(handler)
      } else {
        return nil
      }
    }
  }

  package let entity: NSEntityDescription
  private let source: Source
  private let store: NSPersistentStore
  private let layout: EntityLayout
  private let defaults: [ManagedValue]
  private let needed: [Int]
  /// The places of the to-one relationships from which attributes of other objects are derived.
  private let derivedFrom: [Int]
  private let notesGiven: Bool
  /// The properties that were set so far, by their names.
  private var properties: [String: BatchProperty] = [:]
  /// The same, with their names as they were first given.
  private var known: [(name: String, property: BatchProperty)] = []
  /// The properties of the first keys of the handler's dictionary, by the places of the keys.
  private var placed: [BatchProperty] = []
  private let dictionary = BatchDictionary()
  private var next = 0

  /// - Parameter notesGiven: Whether the objects have the slots that were set.
  /// - Throws: ``NSCoreDataError`` if the model does not have the entity, or if it is abstract, or if there is nothing
  ///   that makes objects.
  package init(_ request: NSBatchInsertRequest, into store: NSPersistentStore, notesGiven: Bool) throws {
    entity = try store.entity(ofBatch: request.entityName)
    guard !entity.isAbstract else {
      throw CoreDataError.make(
        NSCoreDataError, "\(request.entityName) is abstract: there are only objects of its subentities.")
    }
    guard let source = Source(request) else {
      throw CoreDataError.make(NSCoreDataError, "A batch request has neither objects to insert nor a handler.")
    }
    self.source = source
    self.store = store
    let layout = entity.layout
    self.layout = layout
    self.notesGiven = notesGiven
    defaults = zip(layout.slots, layout.defaults).map { slot, value in slot.isInSnapshot ? value : .fault }
    let (entity, derivations) = (entity, store.derivations)
    derivedFrom = layout.toOnes.filter { place in
      !layout.slots[place].isTransient && entity.isDerivedByOthers(from: layout.slots[place].name, derivations)
    }
    needed = layout.slots.indices.filter { place in
      let slot = layout.slots[place]
      return slot.isInSnapshot && !slot.isOptional && !(slot.attribute is NSDerivedAttributeDescription)
    }
  }

  /// The next object; nil if there is none.
  ///
  /// - Throws: as ``readNext(_:)``.
  package func nextObject() throws -> Object? {
    var object = Object(values: defaults)
    return try readNext(&object) ? object : nil
  }

  /// An object that ``readNext(_:)`` can read values into.
  package func blankObject() -> Object { Object(values: defaults) }

  /// Replaces the values of an object by those of the next one.
  ///
  /// - Returns: False if there is none.
  /// - Throws: ``NSValidationMissingMandatoryPropertyError`` and other validation errors for values that the store
  ///   cannot keep.
  package func readNext(_ object: inout Object) throws -> Bool {
    for place in defaults.indices { object.values[place] = defaults[place] }
    if notesGiven { object.given = [] }
    switch source {
    case .dictionaries(let dictionaries):
      guard next < dictionaries.count else { return false }
      next += 1
      try read(dictionaries[next - 1], into: &object)
    case .dictionaryHandler(let handler):
      if handler(dictionary) { return false }
      try read(dictionary, into: &object)
    case .objectHandler(let handler):
      let made = entity.objectClass.init(entity: entity, insertInto: nil)
      if handler(made) { return false }
      try read(made, into: &object)
    }
    try complete(&object)
    return true
  }

  private func read(_ dictionary: [String: Any], into object: inout Object) throws {
    let known = known
    for (name, value) in dictionary { try set(property(name, among: known), value, &object) }
  }

  private func read(_ dictionary: BatchDictionary, into object: inout Object) throws {
    let known = placed
    try dictionary.content.takeAll { place, key, value in
      try set(place < known.count ? known[place] : property(key, place), value, &object)
    }
  }

  private func property(_ key: String, _ place: Int) throws -> BatchProperty {
    let property = try property(key)
    if place == placed.count { placed.append(property) }
    return property
  }

  private func set(_ property: BatchProperty, _ value: Any, _ object: inout Object) throws {
    object.values[property.place] = try property.value(given: value)
    if notesGiven { object.given.append(property.place) }
  }

  /// - Parameter known: The properties that were set so far.
  private func property(
    _ name: String, among known: [(name: String, property: BatchProperty)]
  ) throws -> BatchProperty {
    // Most names are short or the same constants, and it takes less time to compare than to hash them.
    for place in known.indices where known[place].name.isIdentical(to: name) { return known[place].property }
    return try property(name)
  }

  private func property(_ name: String) throws -> BatchProperty {
    if let known = properties[name] { return known }
    let property = try BatchProperty(name, of: entity, in: store)
    properties[name] = property
    known.append((name, property))
    return property
  }

  private func read(_ source: NSManagedObject, into object: inout Object) throws {
    let known = known
    for (place, slot) in layout.slots.enumerated() where !slot.isTransient {
      guard let value = source.storedValue(at: place) else { continue }
      guard slot.attribute != nil else {
        guard value.hasNoMembers else { throw relationshipOfObject(slot.name) }
        continue
      }
      guard !value.isEqual(defaults[place]) else { continue }
      object.values[place] = try property(slot.name, among: known).checked(value)
      if notesGiven { object.given.append(place) }
    }
  }

  private func relationshipOfObject(_ name: String) -> NSError {
    CoreDataError.make(
      NSCoreDataError,
      "The handler of a batch request sets the relationship \(entity.name ?? "").\(name) of an object. Dictionaries may "
        + "contain to-one relationships.")
  }

  private func complete(_ object: inout Object) throws {
    for place in needed where object.values[place].isNull {
      throw layout.slots[place].batchError(NSValidationMissingMandatoryPropertyError, nil)
    }
    for place in derivedFrom where !object.values[place].isNull { throw entity.refusal(layout.slots[place].name) }
    if !layout.derived.isEmpty { layout.derive(&object.values, fromOthers: true) }
  }
}

extension ManagedValue {
  /// Whether it is not the value of a to-one or a to-many relationship that has objects.
  fileprivate var hasNoMembers: Bool {
    switch self {
    case .members(let members): members.elements.isEmpty
    case .object, .reference: false
    default: true
    }
  }
}

extension EntityLayout {
  /// Computes the derived attributes from the other values.
  ///
  /// - Parameter fromOthers: Whether this includes those that are derived from other objects. The object must be related
  ///   to none.
  func derive(_ values: inout [ManagedValue], fromOthers: Bool) {
    for derived in derived where fromOthers || !derived.readsOthers {
      guard let expression = derived.attribute.derivationExpression else { continue }
      let value = PredicateValue(expression.expressionValue(with: BatchValues(values, self), context: nil))
      let converted = derived.attribute.attributeType.convert(value).anyValue
      values[derived.place] = ManagedValue(converted, of: derived.attribute)
    }
  }
}

/// The values of an object that is not in a context, for derived attributes.
private struct BatchValues: KeyValueCoding {
  private let values: [ManagedValue]
  private let layout: EntityLayout

  init(_ values: [ManagedValue], _ layout: EntityLayout) { (self.values, self.layout) = (values, layout) }

  func value(forKey key: String) -> Any? { predicateValue(forKey: key).anyValue }

  func predicateValue(forKey key: String) -> PredicateValue {
    guard let place = layout.place(of: key) else { return .null }
    if case .toMany(let relationship) = layout.slots[place].kind {
      return .collection([], ordered: relationship.isOrdered)
    }
    return values[place].predicateValue
  }
}

extension NSAttributeType {
  /// The numbers that an attribute of the type may have; nil if the type sets no bounds.
  var bounds: ClosedRange<Int64>? {
    switch self {
    case .integer16AttributeType: Int64(Int16.min)...Int64(Int16.max)
    case .integer32AttributeType: Int64(Int32.min)...Int64(Int32.max)
    default: nil
    }
  }
}

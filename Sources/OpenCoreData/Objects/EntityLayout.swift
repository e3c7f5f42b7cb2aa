import Foundation

/// The layout of the values of an entity's objects: a slot for each property, inherited ones first.
///
/// Made when the model is frozen, and never changed.
final class EntityLayout: @unchecked Sendable {
  enum Kind {
    case attribute(NSAttributeDescription)
    case toOne(NSRelationshipDescription)
    case toMany(NSRelationshipDescription)
    case fetched(NSFetchedPropertyDescription)
  }

  final class Slot {
    let property: NSPropertyDescription
    let kind: Kind
    let name: String
    let isTransient: Bool
    let isOptional: Bool
    /// The other end of a relationship; nil if there is none. To retain and release it takes longer than for other
    /// objects, since there are weak references to it.
    let inverse: NSRelationshipDescription?
    fileprivate let inverseIdentity: ObjectIdentifier?
    /// Whether it is a to-many relationship whose members are in an order.
    let isOrdered: Bool
    /// The numbers that are valid; nil if all are.
    private let bounds: ClosedRange<Int64>?
    /// Whether a predicate, or the number of members, decides what is valid.
    private let hasConditions: Bool

    fileprivate init(_ property: NSPropertyDescription, _ kind: Kind) {
      self.property = property
      self.kind = kind
      (name, isTransient, isOptional) = (property.name, property.isTransient, property.isOptional)
      if case .attribute(let attribute) = kind { bounds = attribute.attributeType.bounds } else { bounds = nil }
      switch kind {
      case .toOne(let relationship), .toMany(let relationship):
        (inverse, isOrdered) = (relationship.inverseRelationship, relationship.isOrdered)
      case .attribute, .fetched: (inverse, isOrdered) = (nil, false)
      }
      inverseIdentity = inverse.map { ObjectIdentifier($0) }
      let isLimited = if case .toMany = kind { !property.isUnbounded } else { false }
      hasConditions = isLimited || !property.validationPredicates.isEmpty
    }

    /// Whether every value of the slot's kind is certainly valid.
    fileprivate var allowsEverything: Bool { isOptional && bounds == nil && !hasConditions }

    /// Whether a value of the slot's kind is certainly valid. Otherwise ``NSManagedObject/validateValue(_:forKey:)``
    /// has to tell.
    func certainlyAllows(_ value: ManagedValue) -> Bool {
      guard !hasConditions else { return false }
      return switch value {
      case .null: isOptional
      case .integer(let number): bounds?.contains(number) ?? true
      default: bounds == nil
      }
    }

    var relationship: NSRelationshipDescription? {
      switch kind {
      case .toOne(let relationship), .toMany(let relationship): relationship
      case .attribute, .fetched: nil
      }
    }

    var attribute: NSAttributeDescription? {
      if case .attribute(let attribute) = kind { attribute } else { nil }
    }

    var isToMany: Bool {
      if case .toMany = kind { true } else { false }
    }

    /// Whether rows contain the slot: whether it is a stored attribute or a stored to-one relationship.
    var isInSnapshot: Bool { isSingle && !isTransient }

    /// Whether the slot is an attribute or a to-one relationship.
    fileprivate var isSingle: Bool {
      switch kind {
      case .attribute, .toOne: true
      case .toMany, .fetched: false
      }
    }
  }

  struct Derived {
    let place: Int
    let attribute: NSDerivedAttributeDescription
    /// The key paths of the derivation that begin with a relationship, and the places of these relationships.
    let paths: [[String]]
    let relationships: [Int]

    /// Whether the derivation reads other objects.
    var readsOthers: Bool { !relationships.isEmpty }
  }

  let slots: [Slot]
  /// The places of relationships, of to-one and of to-many ones.
  let relationships: [Int]
  /// What is at the places of ``relationships``.
  private let relationshipIdentities: [ObjectIdentifier]
  let toOnes: [Int]
  let toManys: [Int]
  /// The places of relationships without an inverse.
  let withoutInverse: [Int]
  /// The places of to-many relationships without an inverse.
  let toManysWithoutInverse: [Int]
  /// The places of to-many relationships with a limited number of objects.
  let bounded: [Int]
  /// The places of properties that do not allow every value.
  let limited: [Int]
  /// The places that snapshots leave empty: to-many relationships and fetched properties.
  let outsideSnapshot: [Int]
  /// The places of transient attributes and to-one relationships.
  let transients: [Int]
  /// The derived attributes.
  let derived: [Derived]
  /// The values of a newly inserted object.
  let defaults: [ManagedValue]
  /// The values of an object that is being realised, before its row is read.
  let blank: [ManagedValue]
  private let places: [String: Int]
  /// The names of the slots, if there are few.
  private let fewNames: [String]

  init(_ properties: [NSPropertyDescription]) {
    var slots: [Slot] = []
    var places: [String: Int] = [:]
    for property in properties {
      guard let kind = Kind(property) else { continue }
      let slot = Slot(property, kind)
      if let place = places[property.name] {
        slots[place] = slot
      } else {
        places[property.name] = slots.count
        slots.append(slot)
      }
    }
    self.slots = slots
    self.places = places
    fewNames = slots.count <= 16 ? slots.map(\.name) : []
    relationships = slots.indices.filter { slots[$0].relationship != nil }
    relationshipIdentities = relationships.map { ObjectIdentifier(slots[$0].property) }
    toOnes = relationships.filter { !slots[$0].isToMany }
    toManys = relationships.filter { slots[$0].isToMany }
    withoutInverse = relationships.filter { slots[$0].inverse == nil }
    toManysWithoutInverse = withoutInverse.filter { slots[$0].isToMany }
    bounded = toManys.filter { !slots[$0].property.isUnbounded }
    limited = slots.indices.filter { !slots[$0].allowsEverything }
    outsideSnapshot = slots.indices.filter { !slots[$0].isSingle }
    transients = slots.indices.filter { slots[$0].isSingle && slots[$0].isTransient }
    derived = slots.enumerated().compactMap { place, slot in
      guard let attribute = slot.attribute as? NSDerivedAttributeDescription else { return nil }
      let paths = attribute.paths.filter { path in
        path.first.flatMap { places[$0] }.map { slots[$0].relationship != nil } ?? false
      }
      return Derived(
        place: place, attribute: attribute, paths: paths,
        relationships: paths.compactMap { path in path.first.flatMap { places[$0] } })
    }
    defaults = slots.map { slot in
      switch slot.kind {
      case .attribute(let attribute): ManagedValue(attribute.defaultValue, of: attribute)
      case .toOne: .null
      case .toMany(let relationship): .members(RelatedObjects(isOrdered: relationship.isOrdered, members: ObjectList()))
      case .fetched: .fault
      }
    }
    blank = slots.map { slot in
      switch slot.kind {
      case .attribute, .toOne: .null
      case .toMany, .fetched: .fault
      }
    }
  }

  /// The place of a property's slot; nil if the entity has no property with the name.
  func place(of key: String) -> Int? {
    // It takes less time to compare a key with few names than to hash it.
    for place in fewNames.indices where fewNames[place].isIdentical(to: key) { return place }
    return places[key]
  }

  /// The place of a relationship's slot; nil if the entity has no property with its name.
  func place(of relationship: NSRelationshipDescription) -> Int? {
    // Few relationships are found by looking at each in less time than by a name.
    relationshipIdentities.firstIndex(of: ObjectIdentifier(relationship)).map { relationships[$0] }
      ?? place(of: relationship.name)
  }

  /// The place of the other end of a relationship of another entity; nil if there is none.
  func place(ofInverseOf slot: Slot) -> Int? {
    guard let identity = slot.inverseIdentity else { return nil }
    if let found = relationshipIdentities.firstIndex(of: identity) { return relationships[found] }
    return slot.inverse.flatMap { place(of: $0.name) }
  }
}

extension EntityLayout.Kind {
  fileprivate init?(_ property: NSPropertyDescription) {
    switch property {
    case let attribute as NSAttributeDescription: self = .attribute(attribute)
    case let relationship as NSRelationshipDescription:
      self = relationship.isToMany ? .toMany(relationship) : .toOne(relationship)
    case let fetched as NSFetchedPropertyDescription: self = .fetched(fetched)
    default: return nil
    }
  }
}

import Foundation

/// An object in the in-memory store. A row never changes; a save replaces it.
final class InMemoryRow {
  let objectID: NSManagedObjectID
  let version: UInt64
  let layout: InMemoryLayout
  /// In the order of the layout: an identifier for a to-one relationship, an array of identifiers for a to-many one.
  private let values: [Any?]
  private unowned let rows: InMemoryRows

  /// A row with the present values of the object.
  init(_ object: NSManagedObject, version: UInt64, _ layout: InMemoryLayout, in rows: InMemoryRows) {
    objectID = object.objectID
    self.version = version
    self.layout = layout
    self.rows = rows
    values = layout.properties.map { property in
      guard let relationship = property as? NSRelationshipDescription else {
        return Self.copied(object.value(forKey: property.name))
      }
      let identifiers = object.objectIDs(forRelationshipNamed: relationship.name)
      return relationship.isToMany ? identifiers : identifiers.first
    }
  }

  /// A new row with values, one for each slot of the entity. To-many relationships are empty.
  init(
    _ objectID: NSManagedObjectID, version: UInt64, _ layout: InMemoryLayout, _ values: [ManagedValue],
    in rows: InMemoryRows
  ) {
    self.objectID = objectID
    self.version = version
    self.layout = layout
    self.rows = rows
    let slots = objectID.entity.layout
    self.values = layout.properties.map { property in
      guard let place = slots.place(of: property.name) else { return nil }
      return switch slots.slots[place].kind {
      case .attribute(let attribute): Self.copied(values[place].anyValue(of: attribute.attributeType))
      case .toOne: values[place].objectID
      case .toMany: [NSManagedObjectID]()
      case .fetched: nil
      }
    }
  }

  /// A new row with values in the order of the layout: an identifier for a to-one relationship, an array of identifiers
  /// for a to-many one.
  init(_ objectID: NSManagedObjectID, _ layout: InMemoryLayout, _ values: [Any?], in rows: InMemoryRows) {
    self.objectID = objectID
    version = 1
    self.layout = layout
    self.rows = rows
    self.values = zip(layout.properties, values).map { property, value in
      property is NSRelationshipDescription ? value : Self.copied(value)
    }
  }

  /// A row with other values of some properties, by their names, and a higher version.
  init(_ row: InMemoryRow, replacing values: [String: Any?], version: UInt64) {
    objectID = row.objectID
    self.version = version
    layout = row.layout
    rows = row.rows
    self.values = zip(row.layout.properties, row.values).map { property, value in
      values[property.name].map { Self.copied($0) } ?? value
    }
  }

  /// The values in the form in which objects keep them, one for each slot of the entity.
  var managedValues: [ManagedValue] {
    objectID.entity.layout.slots.map { slot in
      switch slot.kind {
      case .attribute(let attribute): ManagedValue(ifFit: value(of: slot.name), for: attribute) ?? .null
      case .toOne: (value(of: slot.name) as? NSManagedObjectID).map { .reference($0) } ?? .null
      case .toMany, .fetched: .fault
      }
    }
  }

  /// The same row with a higher version.
  init(_ row: InMemoryRow, version: UInt64) {
    objectID = row.objectID
    self.version = version
    layout = row.layout
    values = row.values
    rows = row.rows
  }

  /// The value of a property in the row; nil if it has no value or is not stored.
  func value(of name: String) -> Any? { layout.slot(of: name).flatMap(value) }

  /// The value of a property. If a to-many relationship has no inverse, the row still names members that have been
  /// deleted since it was saved; these are left out.
  private func value(at slot: Int) -> Any? {
    guard let relationship = layout.properties[slot] as? NSRelationshipDescription, relationship.isToMany,
      relationship.inverseRelationship == nil, let identifiers = values[slot] as? [NSManagedObjectID]
    else { return values[slot] }
    return identifiers.filter { rows[$0] != nil }
  }

  /// The row in the form of a conflict's snapshot: attributes, and to-one relationships as identifiers; `NSNull` for no
  /// value.
  var snapshot: [String: Any] {
    var snapshot: [String: Any] = [:]
    for (property, value) in zip(layout.properties, values)
    where (property as? NSRelationshipDescription)?.isToMany != true {
      snapshot[property.name] = value ?? NSNull()
    }
    return snapshot
  }

  /// The value in the form that predicates compare; a relationship leads to other rows.
  func predicateValue(at slot: Int) -> PredicateValue {
    guard let relationship = layout.properties[slot] as? NSRelationshipDescription else {
      return PredicateValue(values[slot])
    }
    if let identifier = values[slot] as? NSManagedObjectID { return rows.predicateValue(of: identifier) }
    guard let identifiers = value(at: slot) as? [NSManagedObjectID] else { return .null }
    return .collection(identifiers.map(rows.predicateValue), ordered: relationship.isOrdered)
  }

  /// Copies an object that may change later.
  private static func copied(_ value: Any?) -> Any? {
    guard let value, type(of: value) is AnyClass, let object = value as? any NSCopying else { return value }
    return object.copy(with: nil)
  }
}

extension InMemoryRow: KeyValueCoding, Identified {
  func value(forKey key: String) -> Any? { predicateValue(forKey: key) }

  func predicateValue(forKey key: String) -> PredicateValue {
    layout.slot(of: key).map(predicateValue) ?? NSManagedObjectID.reader(ofObjectKey: key)?(objectID) ?? .null
  }

  var predicateIdentity: AnyHashable { objectID }
}

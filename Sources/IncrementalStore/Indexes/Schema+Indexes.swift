import CoreData

extension Schema {
  /// Gives numbers to the indexes that are new in the model, and marks those that it no longer declares to be dropped.
  ///
  /// An index is known by its entity, its properties and its conditions, not by its name. If other entities than before
  /// inherit from its entity, it is built anew, under a new number.
  mutating func takeIndexes(of entities: [NSEntityDescription], _ former: Schema) {
    let numbers = SchemaNumbers(self)
    var wanted: [Index] = []
    for entity in entities {
      guard let number = numbers.entity(entity) else { continue }
      for index in entity.indexes {
        guard let properties = index.keptProperties?.map(numbers.property),
          let conditions = index.conditions({ name in
            entity.propertiesByName[name].flatMap { property in
              property.isIndexable ? numbers.property(property).map { ($0, property) } : nil
            }
          })
        else { continue }
        let new = Index(
          number: 0, entity: number, properties: properties.compactMap(\.self), conditions: conditions)
        guard new.properties.count == properties.count, !wanted.contains(where: new.isLike) else { continue }
        wanted.append(new)
      }
    }
    for place in indexes.indices {
      let index = indexes[place]
      let known = tables(of: index.entity, knownTo: former)
      guard !wanted.contains(where: index.isLike) || former.tables(of: index) != known else { continue }
      indexes[place].state = .dropping
    }
    for var index in wanted where !indexes.contains(where: { $0.state != .dropping && $0.isLike(index) }) {
      index.number = takeNumber()
      indexes.append(index)
    }
  }
}

extension Schema {
  /// Marks the indexes as ready that have no objects to be built over.
  mutating func finishEmptyIndexes(_ snapshot: any RowSnapshot) throws {
    for place in indexes.indices where indexes[place].state == .building(from: nil) {
      let isEmpty = try tables(of: indexes[place]).allSatisfy { try snapshot.count(in: $0) == 0 }
      if isEmpty { indexes[place].state = .ready }
    }
  }

  fileprivate func tables(of index: Index) -> Set<UInt32> { Set(family(of: index.entity).map(\.number)) }
}

extension Schema.Index {
  fileprivate func isLike(_ other: Schema.Index) -> Bool {
    entity == other.entity && properties == other.properties && conditions == other.conditions
  }
}

extension NSFetchIndexDescription {
  /// The properties of an index that a store keeps; nil for an index that a store leaves out: one of locations, or one
  /// of values that have no order.
  fileprivate var keptProperties: [NSPropertyDescription]? {
    guard !elements.isEmpty else { return nil }
    let properties = elements.compactMap { element in
      element.collationType == .binary && element.property?.isIndexable == true ? element.property : nil
    }
    return properties.count == elements.count ? properties : nil
  }

  /// What the objects of a partial index have in common; nil if that is more than comparisons with constants.
  fileprivate func conditions(
    _ find: (_ name: String) -> (number: UInt32, property: NSPropertyDescription)?
  ) -> [Schema.Index.Condition]? {
    guard let parts = partialIndexPredicate?.conjuncts else { return [] }
    let conditions = parts.compactMap { Schema.Index.Condition($0, find) }
    return conditions.count == parts.count ? conditions : nil
  }
}

extension NSPropertyDescription {
  fileprivate var isIndexable: Bool {
    switch self {
    case let attribute as NSAttributeDescription: !isTransient && attribute.hasOrderedValues
    case let relationship as NSRelationshipDescription: !relationship.isToMany && !isTransient
    default: false
    }
  }
}

extension NSAttributeDescription {
  fileprivate var hasOrderedValues: Bool {
    switch attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType,
      .doubleAttributeType, .floatAttributeType, .decimalAttributeType, .stringAttributeType, .dateAttributeType,
      .binaryDataAttributeType, .UUIDAttributeType:
      true
    default: false
    }
  }
}

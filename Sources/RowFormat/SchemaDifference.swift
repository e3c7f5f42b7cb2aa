/// What differs between two schemas of a store, in words.
package struct SchemaDifference {
  /// A change of an entity, or of a property of it.
  package struct Change: Equatable {
    package let entity: String
    /// Nil for the entity itself.
    package let property: String?
    /// What happens, as words that follow the name.
    package let words: String
  }

  package private(set) var changes: [Change] = []
  private let former: Schema
  private let schema: Schema
  /// The former number of each property that has another number, by its present one.
  private let origins: [UInt32: UInt32]

  /// - Parameter origins: The former numbers of properties that have other numbers now, by these. For nil, a property
  ///   that has the same name as one that is gone has taken its place.
  package init(from former: Schema, to schema: Schema, origins: [UInt32: UInt32]? = nil) {
    self.former = former
    self.schema = schema
    self.origins = origins ?? Self.replacements(former, schema)
    for entity in schema.entities.sorted(by: { $0.name < $1.name }) { compare(entity) }
    let kept = Set(schema.entities.map(\.number))
    for entity in former.entities.sorted(by: { $0.name < $1.name }) where !kept.contains(entity.number) {
      note(entity.name, nil, "is removed")
    }
    compareIndexes()
  }

  private static func replacements(_ former: Schema, _ schema: Schema) -> [UInt32: UInt32] {
    let present = Set(schema.entities.flatMap(\.properties).map(\.number))
    var origins: [UInt32: UInt32] = [:]
    for entity in schema.entities {
      let gone = (former.entities.first { $0.number == entity.number }?.properties ?? [])
        .filter { !present.contains($0.number) }
      for property in entity.properties {
        if let replaced = gone.first(where: { $0.name == property.name }) { origins[property.number] = replaced.number }
      }
    }
    return origins
  }

  private mutating func note(_ entity: String, _ property: String?, _ words: String) {
    changes.append(Change(entity: entity, property: property, words: words))
  }

  // MARK: Entities and properties

  private mutating func compare(_ entity: Schema.Entity) {
    guard let before = former.entities.first(where: { $0.number == entity.number }) else {
      note(entity.name, nil, "is added")
      return
    }
    if before.name != entity.name { note(entity.name, nil, "was \(before.name)") }
    if before.superentity != entity.superentity {
      let parent = Self.name(entity.superentity, schema)
      note(
        entity.name, nil,
        parent.map { "inherits from \($0)" } ?? "no longer inherits from \(Self.name(before.superentity, former) ?? "")"
      )
    }
    if before.isAbstract != entity.isAbstract {
      note(entity.name, nil, entity.isAbstract ? "becomes abstract" : "is no longer abstract")
    }
    for property in entity.properties.sorted(by: { $0.name < $1.name }) { compare(property, entity.name) }
    let kept = Set(schema.entities.flatMap(\.properties).map { origins[$0.number] ?? $0.number })
    for property in before.properties.sorted(by: { $0.name < $1.name }) where !kept.contains(property.number) {
      note(entity.name, property.name, "is removed")
    }
    let known = Set(former.entities.flatMap(\.constraints).map(\.number))
    for constraint in entity.constraints where !known.contains(constraint.number) {
      note(entity.name, nil, "gets a unique constraint of \(names(constraint.attributes))")
    }
  }

  private mutating func compare(_ property: Schema.Property, _ entity: String) {
    let number = origins[property.number] ?? property.number
    guard let before = former.entities.flatMap(\.properties).first(where: { $0.number == number }) else {
      return note(entity, property.name, property.valueIfAbsent == nil ? "is added" : "is added with a default value")
    }
    if before.name != property.name { note(entity, property.name, "was \(before.name)") }
    if let words = Self.words(from: before.kind, to: property.kind) { note(entity, property.name, words) }
    if before.isOptional, !property.isOptional, former.knowsOptionality {
      note(
        entity, property.name,
        property.valueIfNull == nil ? "becomes required" : "becomes required, with a default value for nil")
    } else if !before.isOptional, property.isOptional {
      note(entity, property.name, "becomes optional")
    }
  }

  private static func words(from former: Schema.Kind, to kind: Schema.Kind) -> String? {
    switch (former, kind) {
    case (.attribute(let old), .attribute(let new)) where old != new: "becomes \(Schema.attributeTypeName(new))"
    case (.toOne, .toMany): "becomes to-many"
    case (.toMany(_, let wasOrdered), .toMany(_, let isOrdered)) where wasOrdered != isOrdered:
      isOrdered ? "becomes ordered" : "becomes unordered"
    default: nil
    }
  }

  // MARK: Indexes

  private mutating func compareIndexes() {
    for index in schema.indexes.filter({ $0.state != .dropping }) {
      guard !former.indexes.contains(where: { $0.number == index.number }) else { continue }
      note(Self.name(index.entity, schema) ?? "", nil, "gets an index of \(names(index.properties))")
    }
  }

  private static func name(_ entity: UInt32, _ schema: Schema) -> String? {
    schema.entities.first { $0.number == entity }?.name
  }

  private func names(_ properties: [UInt32]) -> String {
    let all = schema.entities.flatMap(\.properties)
    return properties.map { number in all.first { $0.number == number }?.name ?? "\(number)" }.joined(separator: ", ")
  }
}

import CairnSimulation
import CoreData

/// Random versions of a model, each made from the one before by a change that can be inferred.
struct ModelEvolution {
  private(set) var version = ModelVersion()
  private var counter = 0
  private var random: SplitMix64

  init(_ random: SplitMix64) {
    self.random = random
    for _ in 0..<Int.random(in: 2...3, using: &self.random) { addEntity() }
    for _ in 0..<8 { _ = change() }
  }

  /// Changes the version, and returns what it has changed; nil if the change that was chosen does not fit.
  mutating func change() -> String? {
    switch Int.random(in: 0..<15, using: &random) {
    case 0: addEntity()
    case 1, 2: addAttribute()
    case 3, 4: addRelationship()
    case 5: removeProperty()
    case 6: renameProperty()
    case 7: renameEntity()
    case 8: require()
    case 9: allowNil()
    case 10: widen()
    case 11: promote()
    case 12: addParent()
    case 13: convert()
    default: removeEntity()
    }
  }

  private mutating func fresh(_ prefix: String) -> String {
    counter += 1
    return "\(prefix)\(counter)"
  }

  private mutating func someEntity() -> String { version.entities.keys.sorted().randomElement(using: &random)! }

  /// A property that some entity declares, other than the key.
  private mutating func someProperty(
    _ isFit: (ModelVersion.Property) -> Bool
  ) -> (entity: String, name: String, property: ModelVersion.Property)? {
    let all = version.entities.sorted { $0.key < $1.key }.flatMap { entity, value in
      value.properties.sorted { $0.key < $1.key }.map { (entity, $0.key, $0.value) }
    }
    return all.filter { $0.1 != "serial" && isFit($0.2) }.randomElement(using: &random)
  }

  // MARK: Changes

  @discardableResult
  private mutating func addEntity() -> String? {
    let name = fresh("E")
    var entity = ModelVersion.Entity(identity: counter)
    if !version.entities.isEmpty, Bool.random(using: &random) {
      entity.parent = someEntity()
    } else {
      var key = ModelVersion.Property.attribute(.integer64AttributeType)
      key.identities = [counter]
      entity.properties["serial"] = key
      if Bool.random(using: &random) { entity.constraints = [["serial"]] }
    }
    version.entities[name] = entity
    return "adds \(name)"
  }

  private mutating func addAttribute() -> String? {
    let entity = someEntity()
    let types: [NSAttributeType] = [.integer16AttributeType, .stringAttributeType, .doubleAttributeType]
    let type = types.randomElement(using: &random)!
    let name = fresh("a")
    var attribute = ModelVersion.Property.attribute(type)
    attribute.identities = [counter]
    attribute.value = Bool.random(using: &random) ? value(of: type) : nil
    attribute.isOptional = attribute.value == nil || Bool.random(using: &random)
    version.entities[entity]!.properties[name] = attribute
    if Bool.random(using: &random) { version.entities[entity]!.indexes.append([name]) }
    return "adds \(entity).\(name)"
  }

  mutating func value(of type: NSAttributeType) -> Any {
    let number = Int.random(in: 0..<5, using: &random)
    switch type {
    case .stringAttributeType: return "text \(number)"
    case .doubleAttributeType: return Double(number) / 2
    default: return number
    }
  }

  private mutating func addRelationship() -> String? {
    let (one, other) = (someEntity(), someEntity())
    let (name, inverse) = (fresh("r"), fresh("r"))
    func property(_ destination: String, _ inverse: String?, _ identity: Int) -> ModelVersion.Property {
      let isToMany = Bool.random(using: &random)
      var made =
        isToMany
        ? ModelVersion.Property.toMany(destination, inverse, isOrdered: Int.random(in: 0..<3, using: &random) == 0)
        : .toOne(destination, inverse)
      made.identities = [identity]
      return made
    }
    let hasInverse = Int.random(in: 0..<4, using: &random) > 0
    version.entities[one]!.properties[name] = property(other, hasInverse ? inverse : nil, counter)
    if hasInverse { version.entities[other]!.properties[inverse] = property(one, name, -counter) }
    return "adds \(one).\(name)"
  }

  private mutating func removeProperty() -> String? {
    guard let (entity, name, property) = someProperty({ _ in true }) else { return nil }
    remove(name, property, of: entity)
    return "removes \(entity).\(name)"
  }

  private mutating func remove(_ name: String, _ property: ModelVersion.Property, of entity: String) {
    version.entities[entity]!.properties[name] = nil
    version.entities[entity]!.indexes.removeAll { $0.contains(name) }
    guard case .relationship(let destination, let inverse?, _, _) = property.kind else { return }
    version.entities[destination]?.properties[inverse] = nil
  }

  private mutating func renameProperty() -> String? {
    guard let (entity, name, property) = someProperty({ _ in true }) else { return nil }
    let new = fresh("n")
    version.entities[entity]!.properties[name] = nil
    var renamed = property
    renamed.renaming = property.renaming ?? name
    version.entities[entity]!.properties[new] = renamed
    version.entities[entity]!.indexes = version.entities[entity]!.indexes.map { $0.map { $0 == name ? new : $0 } }
    if case .relationship(let destination, let inverse?, _, _) = property.kind {
      version.entities[destination]!.properties[inverse]!.kind.refer(to: entity, new)
    }
    return "renames \(entity).\(name) to \(new)"
  }

  private mutating func renameEntity() -> String? {
    let (old, new) = (someEntity(), fresh("N"))
    var entity = version.entities.removeValue(forKey: old)!
    entity.renaming = entity.renaming ?? old
    version.entities[new] = entity
    for name in version.entities.keys {
      if version.entities[name]!.parent == old { version.entities[name]!.parent = new }
      for key in version.entities[name]!.properties.keys {
        guard case .relationship(old, let inverse, _, _) = version.entities[name]!.properties[key]!.kind else {
          continue
        }
        version.entities[name]!.properties[key]!.kind.refer(to: new, inverse)
      }
    }
    return "renames \(old) to \(new)"
  }

  private mutating func require() -> String? {
    guard let (entity, name, property) = someProperty({ $0.type != nil && $0.isOptional }) else { return nil }
    version.entities[entity]!.properties[name]!.isOptional = false
    version.entities[entity]!.properties[name]!.value = property.value ?? value(of: property.type!)
    return "requires \(entity).\(name)"
  }

  private mutating func allowNil() -> String? {
    guard let (entity, name, _) = someProperty({ $0.type != nil && !$0.isOptional }) else { return nil }
    version.entities[entity]!.properties[name]!.isOptional = true
    return "allows nil for \(entity).\(name)"
  }

  private mutating func widen() -> String? {
    guard let (entity, name, _) = someProperty({ $0.type == .integer16AttributeType }) else { return nil }
    version.entities[entity]!.properties[name]!.kind = .attribute(.integer64AttributeType)
    return "widens \(entity).\(name)"
  }

  /// Makes fractions or texts of whole numbers, or texts of fractions.
  private mutating func convert() -> String? {
    let numbers: [NSAttributeType] = [.integer16AttributeType, .integer64AttributeType, .doubleAttributeType]
    guard let (entity, name, property) = someProperty({ $0.type.map(numbers.contains) ?? false }) else { return nil }
    let isText = property.type == .doubleAttributeType || Bool.random(using: &random)
    let type: NSAttributeType = isText ? .stringAttributeType : .doubleAttributeType
    version.entities[entity]!.properties[name]!.kind = .attribute(type)
    version.entities[entity]!.properties[name]!.value = (property.value as? AnyHashable)
      .map { MigratedGraph.converted($0, to: type).base }
    return "makes \(entity).\(name) a \(isText ? "text" : "fraction")"
  }

  private mutating func promote() -> String? {
    guard let (entity, name, property) = someProperty({ $0.type == nil }) else { return nil }
    guard case .relationship(let destination, let inverse, let isToMany, let isOrdered) = property.kind else {
      return nil
    }
    version.entities[entity]!.properties[name]!.kind = .relationship(
      to: destination, inverse: inverse, isToMany: true, isOrdered: isToMany != isOrdered)
    return "makes \(entity).\(name) \(isToMany != isOrdered ? "ordered" : "unordered")"
  }

  /// Puts a new entity above two that have none, to which their keys move.
  private mutating func addParent() -> String? {
    let roots = version.entities.filter { $0.value.parent == nil }.keys.sorted()
    guard roots.count > 1 else { return nil }
    let children = roots.shuffled(using: &random).prefix(2)
    let name = fresh("P")
    var parent = ModelVersion.Entity(identity: counter, isAbstract: Bool.random(using: &random))
    var key = ModelVersion.Property.attribute(.integer64AttributeType)
    for child in children {
      key.identities.formUnion(version.entities[child]!.properties["serial"]!.identities)
      version.entities[child]!.properties["serial"] = nil
      version.entities[child]!.constraints = []
      version.entities[child]!.parent = name
    }
    parent.properties["serial"] = key
    version.entities[name] = parent
    return "puts \(name) above \(children.joined(separator: " and "))"
  }

  /// Removes an entity that inherits from none, together with its subentities and the relationships to them.
  private mutating func removeEntity() -> String? {
    let roots = version.entities.filter { $0.value.parent == nil }.keys.sorted()
    guard roots.count > 1, let root = roots.randomElement(using: &random) else { return nil }
    let gone = version.family(of: root)
    for (entity, value) in version.entities {
      for (name, property) in value.properties {
        guard case .relationship(let destination, _, _, _) = property.kind, gone.contains(destination) else { continue }
        remove(name, property, of: entity)
      }
    }
    for name in gone {
      for (key, property) in version.entities[name]!.properties { remove(key, property, of: name) }
      version.entities[name] = nil
    }
    return "removes \(gone.joined(separator: ", "))"
  }
}

extension ModelVersion.Property {
  /// The type of an attribute; nil for a relationship.
  var type: NSAttributeType? { if case .attribute(let type) = kind { type } else { nil } }
}

extension ModelVersion.Property.Kind {
  fileprivate mutating func refer(to entity: String, _ inverse: String?) {
    guard case .relationship(_, _, let isToMany, let isOrdered) = self else { return }
    self = .relationship(to: entity, inverse: inverse, isToMany: isToMany, isOrdered: isOrdered)
  }
}

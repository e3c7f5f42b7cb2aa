import CairnSimulation
import CoreData

/// What a store of a random model must contain, kept independently: objects by their serial numbers, with values by the
/// identities of properties, and pairs of objects by the identities of relationships.
struct MigratedGraph {
  struct Object {
    /// The identity of its entity.
    let entity: Int
    var values: [Int: AnyHashable?]
  }

  private(set) var objects: [Int: Object] = [:]
  /// By the identity of the relationship that the model declared first; the negative identity is that of its inverse.
  private(set) var edges: [Int: Set<[Int]>] = [:]
  private var nextKey = 1

  // MARK: Migration

  mutating func migrate(to version: ModelVersion) {
    let names = Dictionary(uniqueKeysWithValues: version.entities.map { ($1.identity, $0) })
    objects = objects.filter { names[$0.value.entity] != nil }
    for (key, object) in objects {
      for property in version.properties(of: names[object.entity]!).values {
        guard let type = property.type else { continue }
        let old = property.identities.compactMap { object.values[$0] }.first
        var value = (old ?? property.defaultValue).map { $0.map { Self.converted($0, to: type) } } ?? nil
        if value == nil, !property.isOptional { value = property.defaultValue }
        for identity in property.identities { objects[key]!.values[identity] = .some(value) }
      }
      let known = version.properties(of: names[object.entity]!).values.flatMap(\.identities)
      for identity in object.values.keys where !known.contains(identity) {
        objects[key]!.values.removeValue(forKey: identity)
      }
    }
    let relationships = Set(version.entities.values.flatMap { $0.properties.values.flatMap(\.identities) })
    for identity in edges.keys {
      edges[identity] =
        relationships.contains(identity) || relationships.contains(-identity)
        ? edges[identity]!.filter { $0.allSatisfy { objects[$0] != nil } } : nil
    }
  }

  /// A number as a fraction or as a text; any other value as it is.
  static func converted(_ value: AnyHashable, to type: NSAttributeType) -> AnyHashable {
    switch (type, value.base) {
    case (.doubleAttributeType, let number as Int): Double(number)
    case (.stringAttributeType, let number as Int): "\(number)"
    case (.stringAttributeType, let number as Double): "\(number)"
    default: value
    }
  }

  /// The keys of the objects to which an object relates.
  func related(_ key: Int, _ property: ModelVersion.Property) -> Set<Int> {
    let identity = property.identities.first!
    let isFirst = identity > 0
    let pairs = edges[abs(identity)] ?? []
    return Set(pairs.filter { $0[isFirst ? 0 : 1] == key }.map { $0[isFirst ? 1 : 0] })
  }

  // MARK: Changes

  /// Makes some random changes in a context and in the graph.
  mutating func change(_ version: ModelVersion, _ context: NSManagedObjectContext, _ random: inout SplitMix64) throws {
    let names = version.entities.filter { !$0.value.isAbstract }.keys.sorted()
    guard !names.isEmpty else { return }
    var known = try Self.fetched(version, context)
    for _ in 0..<Int.random(in: 2..<8, using: &random) {
      let name = names.randomElement(using: &random)!
      let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
      object.setValue(nextKey, forKey: "serial")
      var values: [Int: AnyHashable?] = [:]
      for (name, property) in version.properties(of: name) where property.type != nil {
        let value = name == "serial" ? AnyHashable(nextKey) : property.defaultValue
        for identity in property.identities { values[identity] = .some(value) }
      }
      objects[nextKey] = Object(entity: version.entities[name]!.identity, values: values)
      known[nextKey] = (object, name)
      nextKey += 1
    }
    for _ in 0..<Int.random(in: 0..<25, using: &random) {
      let key = known.keys.sorted().randomElement(using: &random)!
      let all = version.properties(of: known[key]!.entity).sorted { $0.key < $1.key }
      let properties = all.filter { $0.key != "serial" }
      guard let (name, property) = properties.randomElement(using: &random) else { continue }
      if let type = property.type {
        let isNil = property.isOptional && Bool.random(using: &random)
        let value: AnyHashable? = isNil ? nil : Self.value(of: type, &random)
        known[key]!.object.setValue(value, forKey: name)
        for identity in property.identities { objects[key]!.values[identity] = .some(value) }
      } else {
        relate(key, name, property, version, known, &random)
      }
    }
    if Bool.random(using: &random), let key = known.keys.sorted().randomElement(using: &random) {
      let isReferredTo = edges.contains { identity, pairs in
        !version.hasInverse(identity) && pairs.contains { $0[1] == key }
      }
      if !isReferredTo {
        context.delete(known[key]!.object)
        objects[key] = nil
        for identity in edges.keys { edges[identity] = edges[identity]!.filter { !$0.contains(key) } }
      }
    }
    try context.save()
  }

  private mutating func relate(
    _ key: Int, _ name: String, _ property: ModelVersion.Property, _ version: ModelVersion,
    _ known: [Int: (object: NSManagedObject, entity: String)], _ random: inout SplitMix64
  ) {
    guard case .relationship(let destination, _, let isToMany, let isOrdered) = property.kind else { return }
    let family = version.family(of: destination)
    guard let other = known.filter({ family.contains($0.value.entity) }).keys.sorted().randomElement(using: &random)
    else { return }
    let identity = property.identities.first!
    let isFirst = identity > 0
    let (own, far) = isFirst ? (0, 1) : (1, 0)
    var pairs = edges[abs(identity)] ?? []
    if !isToMany { pairs = pairs.filter { $0[own] != key } }
    if version.isToOne(-identity) { pairs = pairs.filter { $0[far] != other } }
    pairs.insert(isFirst ? [key, other] : [other, key])
    edges[abs(identity)] = pairs
    let (object, member) = (known[key]!.object, known[other]!.object)
    if !isToMany {
      object.setValue(member, forKey: name)
    } else if isOrdered {
      object.mutableOrderedSetValue(forKey: name).add(member)
    } else {
      object.mutableSetValue(forKey: name).add(member)
    }
  }

  private static func value(of type: NSAttributeType, _ random: inout SplitMix64) -> AnyHashable {
    let number = Int.random(in: 0..<5, using: &random)
    switch type {
    case .stringAttributeType: return "text \(number)"
    case .doubleAttributeType: return Double(number) / 2
    default: return number
    }
  }

  // MARK: Comparison

  private static func equality(_ key: String, _ value: Any?) -> NSPredicate {
    NSComparisonPredicate(
      leftExpression: NSExpression(forKeyPath: key), rightExpression: NSExpression(forConstantValue: value),
      modifier: .direct, type: .equalTo, options: [])
  }

  /// All objects of a store by their keys, with the names of their entities.
  private static func fetched(
    _ version: ModelVersion, _ context: NSManagedObjectContext
  ) throws -> [Int: (object: NSManagedObject, entity: String)] {
    var found: [Int: (object: NSManagedObject, entity: String)] = [:]
    for root in version.entities.filter({ $0.value.parent == nil }).keys {
      for object in try context.all(root) {
        found[object.value(forKey: "serial") as? Int ?? -1] = (object, object.entity.name!)
      }
    }
    return found
  }

  /// How the objects in a store differ from the graph; empty if they do not.
  func differences(_ version: ModelVersion, _ context: NSManagedObjectContext) throws -> [String] {
    var differences: [String] = []
    let found = try Self.fetched(version, context)
    if Set(found.keys) != Set(objects.keys) {
      differences.append("the keys are \(found.keys.sorted()), not \(objects.keys.sorted())")
    }
    for (key, (object, entity)) in found.sorted(by: { $0.key < $1.key }) {
      guard let expected = objects[key] else { continue }
      if version.entities[entity]!.identity != expected.entity { differences.append("\(key) is of \(entity)") }
      for (name, property) in version.properties(of: entity) {
        let value = object.value(forKey: name)
        if property.type != nil {
          let wanted = expected.values[property.identities.first!] ?? nil
          if value as? AnyHashable != wanted {
            let (found, expected) = (value.map { "\($0)" } ?? "nil", wanted.map { "\($0)" } ?? "nil")
            differences.append("\(entity) \(key) has \(found) for \(name), not \(expected)")
          }
          let request = NSFetchRequest<NSManagedObject>(entityName: entity)
          request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
            Self.equality(name, value), Self.equality("serial", key),
          ])
          if try context.count(for: request) != 1 { differences.append("\(key) is not found by \(name)") }
        } else {
          let members = (value as? NSOrderedSet)?.array ?? (value as? NSSet)?.allObjects ?? (value.map { [$0] } ?? [])
          let keys = Set(members.map { ($0 as! NSManagedObject).value(forKey: "serial") as? Int ?? -1 })
          let wanted = related(key, property)
          if keys != wanted || members.count != wanted.count {
            differences.append("\(entity) \(key) has \(keys.sorted()) in \(name), not \(wanted.sorted())")
          }
        }
      }
    }
    return differences
  }
}

extension ModelVersion {
  private func property(_ identity: Int) -> Property? {
    entities.values.lazy.flatMap(\.properties.values).first { $0.type == nil && $0.identities.contains(identity) }
  }

  fileprivate func isToOne(_ identity: Int) -> Bool {
    guard case .relationship(_, _, false, _) = property(identity)?.kind else { return false }
    return true
  }

  fileprivate func hasInverse(_ identity: Int) -> Bool { property(-identity) != nil }
}

extension ModelVersion.Property {
  fileprivate var defaultValue: AnyHashable? { value as? AnyHashable }
}

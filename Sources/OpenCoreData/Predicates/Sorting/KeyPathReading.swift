import Foundation

/// Finds the names of the properties that a Swift key path of managed objects reads.
///
/// Off Apple's platforms a key path knows no names. So the key path is read from an object that stands for any object
/// of its class: its attributes have sample values, and the properties that are read are noted. The names count only if
/// the result is the sample of the last property, and is so with other samples, too: a computed property that does
/// more than pass on a value has no name.
final class KeyPathReading: @unchecked Sendable {
  /// The reading of the current thread.
  @TaskLocal private static var current: KeyPathReading?

  private let turn: Int
  private var steps: [(object: NSManagedObject, place: Int)] = []

  private init(turn: Int) { self.turn = turn }

  /// The names with dots between them, such as `author.name`. Nil if the key path does not begin at a class of managed
  /// objects, if no model in use has an entity of that class, or if the key path has no name.
  ///
  /// - Complexity: Makes two objects for each entity on the path.
  static func key<Root, Value>(of keyPath: KeyPath<Root, Value>) -> String? {
    key(of: keyPath) { $0 is Root.Type }
  }

  /// As ``key(of:)``, but only for a class that an entity has itself.
  static func key(ofErased keyPath: AnyKeyPath) -> String? {
    let root = type(of: keyPath).rootType
    return key(of: keyPath) { $0 == root }
  }

  private static func key(of keyPath: AnyKeyPath, _ isFit: (NSManagedObject.Type) -> Bool) -> String? {
    guard type(of: keyPath).rootType is NSManagedObject.Type else { return nil }
    let models = ModelsInUse.shared.models
    return withExtendedLifetime(models) {
      guard let entity = entity(of: models, whoseClass: isFit) else { return nil }
      let names = (0..<2).map { turn in KeyPathReading(turn: turn).key(of: keyPath, from: entity) }
      return names[0] == names[1] ? names[0] : nil
    }
  }

  /// Notes that a property of an object is read, if a key path is being read.
  static func note(_ key: String, of object: NSManagedObject) { current?.note(key, of: object) }

  private static func entity(
    of models: [NSManagedObjectModel], whoseClass isFit: (NSManagedObject.Type) -> Bool
  ) -> NSEntityDescription? {
    models.lazy.flatMap(\.entities)
      .first { !$0.isAbstract && $0.managedObjectClass.map(isFit) ?? false }
  }

  private func key(of keyPath: AnyKeyPath, from entity: NSEntityDescription) -> String? {
    guard let root = sample(of: entity) else { return nil }
    let end = Self.$current.withValue(self) { (root as Any)[keyPath: keyPath] }
    var object: NSManagedObject? = root
    var names: [String] = []
    for step in steps {
      guard let current = object, step.object === current else { return nil }
      names.append(current.layout.slots[step.place].name)
      object = if case .object(let next) = current.values[step.place] { next } else { nil }
    }
    guard let last = steps.last, isSample(end, of: last.object, at: last.place) else { return nil }
    return names.joined(separator: ".")
  }

  private func isSample(_ value: Any?, of object: NSManagedObject, at place: Int) -> Bool {
    let slot = object.layout.slots[place]
    guard let attribute = slot.attribute else {
      return slot.isToMany || value.flatMap { $0 as? NSManagedObject } === object.toOne(at: place)
    }
    return !object.values[place].isNull
      && ManagedValue(ifFit: value, for: attribute)?.isEqual(object.values[place]) == true
  }

  private func note(_ key: String, of object: NSManagedObject) {
    guard let place = object.layout.place(of: key) else { return }
    // Accessors may read the same property more than once.
    if let last = steps.last, last.object === object, last.place == place { return }
    steps.append((object, place))
    guard case .toOne(let relationship) = object.layout.slots[place].kind, object.values[place].isNull,
      let destination = relationship.destinationEntity.flatMap({ Self.concrete($0) }),
      let next = sample(of: destination)
    else { return }
    object.put(.object(next), at: place)
  }

  /// The entity, or the first of its subentities that has objects.
  private static func concrete(_ entity: NSEntityDescription) -> NSEntityDescription? {
    entity.isAbstract ? entity.subentities.lazy.compactMap(concrete).first : entity
  }

  // MARK: Samples

  /// A fault in no context whose properties have sample values nonetheless.
  private func sample(of entity: NSEntityDescription) -> NSManagedObject? {
    let object = entity.managedObjectClass?.init(entity: entity, insertInto: nil)
    object?.takeSamples { sample(of: $0) }
    return object
  }

  /// Values that most computations change: strings with both cases and a space at the end, fractions.
  private func sample(of attribute: NSAttributeDescription) -> ManagedValue {
    switch attribute.attributeType {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
      .integer(Int64(turn))
    case .doubleAttributeType, .floatAttributeType: .double(Double(turn) + 0.5)
    case .decimalAttributeType: .other(NSDecimalNumber(value: Double(turn) + 0.5))
    case .stringAttributeType: .string(turn == 0 ? "Aa " : "Bb ")
    case .dateAttributeType: .date(Date(timeIntervalSinceReferenceDate: Double(turn) + 0.5))
    case .binaryDataAttributeType: .data(Data([UInt8(turn)]))
    case .UUIDAttributeType: .uuid(UUID())
    case .URIAttributeType: URL(string: "a:\(turn)").map { .other($0) } ?? .null
    case .undefinedAttributeType, .transformableAttributeType, .objectIDAttributeType, .compositeAttributeType: .null
    }
  }
}

extension NSManagedObject {
  fileprivate func takeSamples(_ sample: (NSAttributeDescription) -> ManagedValue) {
    takeDefaults()
    for (place, slot) in layout.slots.enumerated() {
      if let attribute = slot.attribute { put(sample(attribute), at: place) }
    }
    // Reading a property of a fault is noted.
    markAsFault()
  }
}

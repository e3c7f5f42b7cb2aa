#if !canImport(Darwin)
  import ArgumentParser
  import Cairn
  import CairnIncrementalStore
  import CairnInspection
  import Foundation
  import OpenCoreData

  /// Creates and updates the objects of a file in a context, and saves them together.
  final class ObjectImport {
    struct Report {
      var inserted = 0
      var updated = 0
      var unchanged = 0
    }

    private let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    private let coordinator: NSPersistentStoreCoordinator
    private let model: NSManagedObjectModel
    private let store: NSPersistentStore
    private let defaultEntity: String?
    /// New objects by the names that the file gives them.
    private var named: [String: NSManagedObject] = [:]
    private var lines: [ObjectIdentifier: Int] = [:]
    private var objects: [NSManagedObject] = []
    private var links: [Link] = []

    /// The objects to set in a relationship once all objects are known.
    private struct Link {
      let line: Int
      let object: NSManagedObject
      let relationship: NSRelationshipDescription
      let names: [String]
    }

    /// - Throws: An error of Cocoa's domain if the model is not that of the store, or if another process has the store
    ///   open; `notFound` if the model lacks the default entity.
    init(into url: URL, model modelURL: URL, defaultEntity: String?) throws {
      model = try NSManagedObjectModel(modelFileAt: modelURL)
      ValueTransformer.setValueTransformer(BytesTransformer(), forName: NSValueTransformerName(BytesTransformer.name))
      for entity in model.entities {
        entity.managedObjectClassName = "NSManagedObject"
        entity.attributesByName.values.forEach(BytesTransformer.use)
      }
      if let defaultEntity, model.entitiesByName[defaultEntity] == nil {
        throw StoreError(.notFound, "the model has no entity \(Key.string(defaultEntity).literal)")
      }
      self.defaultEntity = defaultEntity
      coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
      CairnIncrementalStore.register()
      store = try coordinator.addPersistentStore(type: .cairn, at: url)
      context.persistentStoreCoordinator = coordinator
    }

    /// Adds the objects of a file to the context.
    func read(_ given: GivenObjects, progress: InspectionProgress) throws {
      try context.performAndWait {
        var given = given
        while let next = try given.next() {
          try add(next)
          if objects.count % 64 == 0 { try goOn(progress) }
        }
        for (number, link) in links.enumerated() {
          try establish(link)
          if number % 64 == 0 { try goOn(progress) }
        }
        context.processPendingChanges()
        // The last chance to cancel: once saving has begun, it is finished.
        try goOn(progress)
      }
    }

    private func goOn(_ progress: InspectionProgress) throws {
      guard progress(objects.count, 0) else { throw StoreError(.cancelled, "importing was cancelled") }
    }

    /// Closes the store.
    func close() throws { try coordinator.remove(store) }

    /// Saves all objects, or nothing.
    func save() throws -> Report {
      try context.performAndWait {
        var report = Report()
        for object in objects {
          if object.isInserted {
            report.inserted += 1
          } else if object.hasChanges {
            report.updated += 1
          } else {
            report.unchanged += 1
          }
        }
        do {
          try context.save()
        } catch {
          throw ImportProblem(error as NSError) { self.lines[ObjectIdentifier($0)] }
        }
        return report
      }
    }

    // MARK: Objects

    private func add(_ given: GivenObject) throws {
      let object = try object(given)
      if let name = given.ownColumns.first(where: { object.entity.propertiesByName[$0] != nil }) {
        throw problem(
          given.line,
          "a property of \(object.entity.name ?? "") is named \(name), which has another meaning in CSV; use jsonl")
      }
      objects.append(object)
      lines[ObjectIdentifier(object)] = given.line
      for (name, value) in given.values { try set(value, name, object, given.line) }
    }

    private func object(_ given: GivenObject) throws -> NSManagedObject {
      if let name = given.name, let existing = try existing(name, given.line) {
        guard lines[ObjectIdentifier(existing)] == nil else { throw problem(given.line, "\(name) appears twice") }
        guard given.entity == nil || given.entity == existing.entity.name else {
          throw problem(given.line, "\(name) has the entity \(existing.entity.name ?? "")")
        }
        return existing
      }
      guard let entityName = given.entity ?? given.name.flatMap(Self.entity) ?? defaultEntity else {
        throw problem(given.line, "the object has no entity; use --entity to name one")
      }
      guard let entity = model.entitiesByName[entityName], !entity.isAbstract else {
        throw problem(
          given.line, "the model has no entity \(Key.string(entityName).literal) that can have objects")
      }
      let object = NSManagedObject(entity: entity, insertInto: context)
      if let name = given.name, named.updateValue(object, forKey: name) != nil {
        throw problem(given.line, "\(name) appears twice")
      }
      return object
    }

    /// The object of the store that a URI or a short name such as `Person/p12` names; nil for any other name, which
    /// only the file can define.
    private func existing(_ name: String, _ line: Int) throws -> NSManagedObject? {
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      let isShort = parts.count == 2 && parts[1].first == "p" && Int64(parts[1].dropFirst()) != nil
      let uri = isShort ? "x-coredata://\(store.identifier ?? "")/\(name)" : name
      guard uri.hasPrefix("x-coredata://\(store.identifier ?? "")/") else { return nil }
      let missing = problem(line, "there is no object \(name)")
      guard let url = URL(string: uri), let id = coordinator.managedObjectID(forURIRepresentation: url) else {
        throw missing
      }
      do {
        return try context.existingObject(with: id)
      } catch {
        let cause = error as NSError
        guard cause.domain != NSCocoaErrorDomain || cause.code != NSManagedObjectReferentialIntegrityError else {
          throw missing
        }
        throw CocoaProblem(cause, at: "line \(line): \(name) cannot be read: ")
      }
    }

    /// The entity named in the URI of an object, which may be in another store.
    private static func entity(of uri: String) -> String? {
      let parts = uri.split(separator: "/")
      return parts.count == 4 && parts[0] == "x-coredata:" ? parts[2].removingPercentEncoding : nil
    }

    // MARK: Properties

    private func set(_ value: GivenValue, _ name: String, _ object: NSManagedObject, _ line: Int) throws {
      let entity = object.entity
      if let relationship = entity.relationshipsByName[name], !relationship.isTransient {
        guard let names = value.objectNames(isToMany: relationship.isToMany) else {
          throw problem(line, "\(name) is not \(relationship.isToMany ? "a list of objects" : "an object")")
        }
        links.append(Link(line: line, object: object, relationship: relationship, names: names))
      } else if let attribute = entity.attributesByName[name], !attribute.isTransient {
        guard let made = try made(of: value, attribute, line) else {
          throw problem(line, "\(name) is not \(attribute.attributeType.words)")
        }
        let old = ManagedValue(object.value(forKey: name), of: attribute)
        let isDerived = attribute is NSDerivedAttributeDescription
        guard !isDerived, !ManagedValue(made, of: attribute).isEqual(old) else { return }
        object.setValue(made is NSNull ? nil : made, forKey: name)
      } else {
        // A CSV table has a column for each property of any of its entities.
        if case .null = value { return }
        throw problem(line, "\(entity.name ?? "") has no stored property \(Key.string(name).literal)")
      }
    }

    private func made(of value: GivenValue, _ attribute: NSAttributeDescription, _ line: Int) throws -> Any? {
      guard attribute.attributeType == .objectIDAttributeType, case .string(let name) = value else {
        return value.value(of: attribute)
      }
      guard let object = try existing(name, line) else { throw problem(line, "\(name) is not an object of the store") }
      return object.objectID
    }

    private func establish(_ link: Link) throws {
      let others = try link.names.map { name in
        guard let other = try named[name] ?? existing(name, link.line) else {
          throw problem(link.line, "\(link.relationship.name): there is no object \(name)")
        }
        guard link.relationship.destinationEntity.map(other.entity.isKindOf) ?? true else {
          throw problem(link.line, "\(link.relationship.name): \(name) has the entity \(other.entity.name ?? "")")
        }
        return other
      }
      let (object, key) = (link.object, link.relationship.name)
      let old = object.value(forKey: key)
      if !link.relationship.isToMany {
        if old as? NSManagedObject !== others.first { object.setValue(others.first, forKey: key) }
      } else if link.relationship.isOrdered {
        let wanted = NSOrderedSet(array: others)
        if !wanted.isEqual(old) { object.setValue(wanted, forKey: key) }
      } else {
        let wanted = NSSet(array: others)
        if !wanted.isEqual(old) { object.setValue(wanted, forKey: key) }
      }
    }

    private func problem(_ line: Int, _ words: String) -> StoreError {
      StoreError(.malformed, "line \(line): \(words)")
    }
  }

  /// Passes on the bytes of transformable values as they are stored.
  private final class BytesTransformer: ValueTransformer {
    static let name = "kvdump"

    override func transformedValue(_ value: Any?) -> Any? { value }
    override func reverseTransformedValue(_ value: Any?) -> Any? { value }

    static func use(for attribute: NSAttributeDescription) {
      if attribute.attributeType == .transformableAttributeType { attribute.valueTransformerName = name }
      (attribute as? NSCompositeAttributeDescription)?.elements.forEach(use)
    }
  }

  /// The reasons why a context could not save, with the lines of the objects concerned.
  private struct ImportProblem: StatusError, CustomStringConvertible {
    let description: String
    let status: ExitCode

    init(_ error: NSError, line: (NSManagedObject) -> Int?) {
      let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
      let causes = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
      let problems =
        conflicts.isEmpty
        ? causes.map { cause in
          let place = (cause.userInfo[NSValidationObjectErrorKey] as? NSManagedObject).flatMap(line)
          return (place.map { "line \($0): " } ?? "") + cause.localizedDescription
        } : conflicts.map { Self.words($0, line) }
      status = CocoaProblem.status(of: error) ?? .malformed
      description = "nothing was imported: " + problems.joined(separator: " ")
    }

    private static func words(_ conflict: NSConstraintConflict, _ line: (NSManagedObject) -> Int?) -> String {
      let places = conflict.conflictingObjects.compactMap(line).sorted()
      let names = conflict.constraint.joined(separator: ", ")
      return places.count > 1
        ? "lines \(places.map(String.init).joined(separator: ", ")): \(names) must be unique."
        : "line \(places.map(String.init).joined()): another object has the same \(names)."
    }
  }

  extension NSAttributeType {
    /// The noun for a value of the type, for messages.
    fileprivate var words: String {
      switch self {
      case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: "a whole number"
      case .decimalAttributeType, .doubleAttributeType, .floatAttributeType: "a number"
      case .stringAttributeType: "text"
      case .booleanAttributeType: "true or false"
      case .dateAttributeType: "a date such as 2001-01-01T00:00:00Z"
      case .binaryDataAttributeType, .transformableAttributeType: "an even number of hexadecimal digits"
      case .UUIDAttributeType: "a UUID"
      case .URIAttributeType: "a URI"
      case .objectIDAttributeType: "an object"
      case .compositeAttributeType: "a JSON object with the elements of the attribute"
      case .undefinedAttributeType: "a value"
      }
    }
  }
#endif

import OpenCoreData

/// The classes that a model defines.
struct ModelClasses {
  let classes: [ManagedClass]

  /// Collects the classes, and warns of entities and properties that are left out.
  ///
  /// - Parameter entities: the names of the wanted entities; all entities if empty.
  init(of source: ModelSource, entities wanted: [String]) throws {
    let file = source.root.file
    for name in wanted where source.model.entitiesByName[name]?.ownClassName == nil {
      let reason =
        source.model.entitiesByName[name] == nil
        ? "there is no entity \"\(name)\"" : "the entity \"\(name)\" has no class of its own"
      throw ModelProblem(file: file, line: nil, reason: reason)
    }
    var found: [(managedClass: ManagedClass, element: ModelElement)] = []
    for element in source.root.children("entity") {
      guard let name = element.text("name"), wanted.isEmpty || wanted.contains(name),
        let entity = source.model.entitiesByName[name], entity.ownClassName != nil
      else { continue }
      found.append((try ManagedClass(entity, element), element))
    }
    let owners = Dictionary(grouping: found.map(\.managedClass), by: \.name).mapValues { sharing in
      sharing.first { $0.entityName == $0.name } ?? sharing[0]
    }
    classes = found.compactMap { managedClass, element in
      guard let owner = owners[managedClass.name], owner.entityName != managedClass.entityName else {
        return managedClass
      }
      element.warn("the entity is omitted: its class \(owner.name) is written for the entity \"\(owner.entityName)\"")
      return nil
    }
    if classes.isEmpty { source.root.warn("no entity has a class of its own; nothing is written") }
  }

  /// The source files, each with its name and text.
  func files(access: Access) -> [SourceFile] {
    classes.flatMap { managedClass in
      (managedClass.isExtension ? [] : [managedClass.classFile(access)]) + [managedClass.propertiesFile(access)]
    }
  }
}

/// A part of a model that cannot be expressed in Swift.
struct ModelProblem: Error, CustomStringConvertible {
  let file: String
  let line: Int?
  let reason: String

  var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(reason)" }
}

extension NSEntityDescription {
  /// The Swift name of the entity's class, without the module; nil if the entity has no class of its own.
  var ownClassName: String? {
    let name = managedObjectClassName.split(separator: ".").last.map(String.init) ?? "NSManagedObject"
    return name == "NSManagedObject" || name == superentity?.swiftClassName ? nil : name
  }

  /// The Swift name of the class of the entity's objects, without the module.
  var swiftClassName: String {
    managedObjectClassName.split(separator: ".").last.map(String.init) ?? "NSManagedObject"
  }
}

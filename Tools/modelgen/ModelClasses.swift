import OpenCoreData

/// The classes that a model asks for.
struct ModelClasses {
  let model: String
  let classes: [ManagedClass]

  /// - Parameter entities: the names of those wanted; all if empty.
  init(of source: ModelSource, entities wanted: [String]) throws {
    model = source.root.file
    for name in wanted where source.model.entitiesByName[name] == nil {
      throw ModelProblem(file: model, line: nil, reason: "there is no entity \"\(name)\"")
    }
    classes = try source.root.children("entity").compactMap { element in
      guard let name = element.text("name"), wanted.isEmpty || wanted.contains(name),
        let entity = source.model.entitiesByName[name], entity.ownClassName != nil
      else { return nil }
      return try ManagedClass(entity, element)
    }
    guard !classes.isEmpty else {
      throw ModelProblem(file: model, line: nil, reason: "no entity has a class of its own")
    }
    var owners: [String: String] = [:]
    for managedClass in classes {
      guard let other = owners.updateValue(managedClass.entityName, forKey: managedClass.name) else { continue }
      let reason = "\"\(other)\" and \"\(managedClass.entityName)\" have one class, \(managedClass.name)"
      throw ModelProblem(file: model, line: nil, reason: "\(reason); choose with --entity")
    }
  }

  /// The source files, each with its name and text.
  func files(access: Access) -> [SourceFile] {
    classes.flatMap { managedClass in
      (managedClass.isExtension ? [] : [managedClass.classFile(access)]) + [managedClass.propertiesFile(access)]
    }
  }
}

/// Something in a model that cannot be said in Swift.
struct ModelProblem: Error, CustomStringConvertible {
  let file: String
  let line: Int?
  let reason: String

  var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(reason)" }
}

extension NSEntityDescription {
  /// The name of its class in Swift, without the module; nil if it has none of its own.
  var ownClassName: String? {
    let name = managedObjectClassName.split(separator: ".").last.map(String.init) ?? "NSManagedObject"
    return name == "NSManagedObject" || name == superentity?.swiftClassName ? nil : name
  }

  /// The name of the class its objects have.
  var swiftClassName: String {
    managedObjectClassName.split(separator: ".").last.map(String.init) ?? "NSManagedObject"
  }
}

import Foundation

/// Makes a model of the XML of a model file.
///
/// Elements that mean nothing to Core Data, such as places in the editor, are passed over, and so are attributes that are
/// not known, for Xcode adds some with every few versions. Everything else must make sense.
struct ModelReader {
  private let root: ModelElement
  /// The entities by their names.
  private var entities: [String: NSEntityDescription] = [:]
  private let composites: [String: ModelElement]

  init(_ root: ModelElement) throws(ModelFileError) {
    guard root.kind == "model" else { throw root.error("a model file begins with <model>, not <\(root.kind)>") }
    try root.allow(["entity", "composite", "configuration", "fetchRequest", "elements"])
    self.root = root
    composites = Dictionary(uniqueKeysWithValues: try Self.named(root.children("composite")))
    for (name, element) in try Self.named(root.children("entity")) { entities[name] = try Self.entity(element) }
  }

  /// What the XML says.
  func model() throws(ModelFileError) -> NSManagedObjectModel {
    let model = NSManagedObjectModel()
    try inherit()
    try declareProperties()
    try RelationshipReader(entities: entities).connect(root.children("entity"))
    for element in root.children("entity") {
      try IndexReader(element: element, entity: entity("name", of: element)).read()
    }
    model.entities = root.children("entity").compactMap { $0.text("name").flatMap { entities[$0] } }
    model.versionIdentifiers = Set(root.attributes["userDefinedModelVersionIdentifier"].map { [$0] } ?? [])
    for (name, element) in try Self.named(root.children("configuration")) {
      model.setEntities(try members(of: element), forConfigurationName: name)
    }
    for (name, element) in try Self.named(root.children("fetchRequest")) {
      model.setFetchRequestTemplate(try fetchRequest(element), forName: name)
    }
    return model
  }

  /// The entity of which the attribute of an element gives the name.
  func entity(_ attribute: String, of element: ModelElement) throws(ModelFileError) -> NSEntityDescription {
    let name = try element.required(attribute)
    guard let entity = entities[name] else { throw element.error("there is no entity \"\(name)\"") }
    return entity
  }

  /// The elements with their names, which must differ.
  private static func named(_ elements: [ModelElement]) throws(ModelFileError) -> [(String, ModelElement)] {
    var pairs: [(String, ModelElement)] = []
    var lines: [String: Int] = [:]
    for element in elements {
      let name = try element.required("name")
      if let line = lines.updateValue(element.line, forKey: name) {
        throw element.error("the \(element.kind) \"\(name)\" is in line \(line) already")
      }
      pairs.append((name, element))
    }
    return pairs
  }

  private static func entity(_ element: ModelElement) throws(ModelFileError) -> NSEntityDescription {
    let entity = NSEntityDescription()
    entity.name = try element.required("name")
    if let name = element.text("representedClassName") {
      // A leading full stop stands for the module that is being compiled.
      entity.managedObjectClassName = String(name.trimmingPrefix("."))
    }
    entity.isAbstract = try element.flag("isAbstract")
    entity.renamingIdentifier = element.text("elementID")
    entity.versionHashModifier = element.text("versionHashModifier")
    entity.userInfo = try element.userInfo()
    return entity
  }

  private func inherit() throws(ModelFileError) {
    for element in root.children("entity") where element.text("parentEntity") != nil {
      let entity = try entity("name", of: element)
      let parent = try self.entity("parentEntity", of: element)
      guard !parent.isKindOf(entity: entity) else {
        throw element.error("\"\(entity.name ?? "")\" would inherit from itself")
      }
      parent.subentities.append(entity)
    }
  }

  private func declareProperties() throws(ModelFileError) {
    for element in root.children("entity") {
      try element.allow([
        "attribute", "relationship", "fetchedProperty", "fetchIndex", "compoundIndexes", "uniquenessConstraints",
        "userInfo",
      ])
      var properties: [NSPropertyDescription] = []
      for child in element.children {
        switch child.kind {
        case "attribute": properties.append(try AttributeReader(composites: composites).attribute(child))
        case "relationship": properties.append(try RelationshipReader.relationship(child))
        case "fetchedProperty": properties.append(try fetchedProperty(child))
        default: break
        }
      }
      try entity("name", of: element).properties = properties
    }
    for element in root.children("entity") { try checkNames(element) }
  }

  private func checkNames(_ element: ModelElement) throws(ModelFileError) {
    let entity = try entity("name", of: element)
    var names = Set((entity.superentity?.properties ?? []).map(\.name))
    for child in element.children where ["attribute", "relationship", "fetchedProperty"].contains(child.kind) {
      let name = try child.required("name")
      guard names.insert(name).inserted else {
        throw child.error("\"\(entity.name ?? "")\" has a property \"\(name)\" already, of its own or inherited")
      }
    }
  }

  private func members(of configuration: ModelElement) throws(ModelFileError) -> [NSEntityDescription] {
    try configuration.allow(["memberEntity"])
    var members: [NSEntityDescription] = []
    for member in configuration.children { members.append(try entity("name", of: member)) }
    return members
  }
}

extension NSPropertyDescription {
  /// Takes over what all properties have in common.
  func describe(_ element: ModelElement) throws(ModelFileError) {
    name = try element.required("name")
    isOptional = try element.flag("optional")
    isTransient = try element.flag("transient")
    renamingIdentifier = element.text("elementID")
    versionHashModifier = element.text("versionHashModifier")
    userInfo = try element.userInfo()
  }
}

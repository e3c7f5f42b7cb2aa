import Foundation

/// Makes a model from the XML of a model file.
///
/// Data without meaning to Core Data, such as positions in the editor, is ignored. Unknown XML attributes are passed
/// over with a warning, because Xcode adds some every few versions. Xcode leaves stale settings in a model: if the rest
/// of the model is meaningful without such a setting, the reader adds a warning. It throws if the entities, the properties, their types
/// or the destinations of relationships make no sense.
struct ModelReader {
  private let root: ModelElement
  /// The entities by their names.
  private var entities: [String: NSEntityDescription] = [:]
  private var composites: [String: ModelElement] = [:]

  init(_ root: ModelElement) throws(ModelFileError) {
    guard root.kind == "model" else { throw root.error("a model file begins with <model>, not <\(root.kind)>") }
    root.expect(["entity", "composite", "configuration", "fetchRequest", "elements"])
    KnownAttributes.check(root)
    self.root = root
    var (composites, entities) = (Names(), Names())
    for element in root.children("composite") { self.composites[try composites.add(element)] = element }
    for element in root.children("entity") { self.entities[try entities.add(element)] = Self.entity(element) }
  }

  /// The model in the XML.
  func model() throws(ModelFileError) -> NSManagedObjectModel {
    let model = NSManagedObjectModel(fileID: "")
    try inherit()
    try declareProperties()
    try RelationshipReader(entities: entities).connect(root.children("entity"))
    for element in root.children("entity") {
      IndexReader(element: element, entity: try entity("name", of: element)).read()
    }
    model.entities = root.children("entity").compactMap { $0.text("name").flatMap { entities[$0] } }
    model.versionIdentifiers = Set(root.attributes["userDefinedModelVersionIdentifier"].map { [$0] } ?? [])
    var (configurations, templates) = (Names(), Names())
    for element in root.children("configuration") {
      let left = "the configuration is left out"
      guard let name = element.assuming(left, try configurations.add(element)) else { continue }
      model.setEntities(members(of: element), forConfigurationName: name)
    }
    for element in root.children("fetchRequest") {
      let left = "the request is left out"
      guard let name = element.assuming(left, try templates.add(element)),
        let request = element.assuming(left, try fetchRequest(element))
      else { continue }
      model.setFetchRequestTemplate(request, forName: name)
    }
    try checkDerivations()
    return model
  }

  /// Throws if a derivation leads over a relationship without an inverse.
  private func checkDerivations() throws(ModelFileError) {
    for element in root.children("entity") {
      let attributes = try entity("name", of: element).attributesByName
      for child in element.children("attribute") {
        let derived = child.text("name").flatMap { attributes[$0] } as? NSDerivedAttributeDescription
        if let reason = derived?.missingInverse { throw child.error(reason) }
      }
    }
  }

  /// The entity that an element names in one of its XML attributes.
  func entity(_ attribute: String, of element: ModelElement) throws(ModelFileError) -> NSEntityDescription {
    let name = try element.required(attribute)
    guard let entity = entities[name] else { throw element.error("there is no entity \"\(name)\"") }
    return entity
  }

  /// The names of the elements of one kind with their lines. The names must be unique.
  private struct Names {
    private var lines: [String: Int] = [:]

    /// Adds the name of an element, and returns it. Throws if the element has no name or the name is not unique.
    mutating func add(_ element: ModelElement) throws(ModelFileError) -> String {
      let name = try element.required("name")
      if let line = lines[name] {
        throw element.error("the \(element.kind) \"\(name)\" is in line \(line) already")
      }
      lines[name] = element.line
      return name
    }
  }

  private static func entity(_ element: ModelElement) -> NSEntityDescription {
    let entity = NSEntityDescription(fileID: "")
    entity.name = element.text("name")
    if let name = element.text("representedClassName") {
      // A leading full stop stands for the module that is being compiled.
      entity.managedObjectClassName = String(name.trimmingPrefix("."))
    }
    entity.isAbstract = element.flag("isAbstract")
    entity.renamingIdentifier = element.text("elementID")
    entity.versionHashModifier = element.text("versionHashModifier")
    entity.userInfo = element.userInfo()
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
      element.expect([
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

  private func members(of configuration: ModelElement) -> [NSEntityDescription] {
    configuration.expect(["memberEntity"])
    var members: [NSEntityDescription] = []
    for member in configuration.children("memberEntity") {
      if let entity = member.assuming("the member is left out", try entity("name", of: member)) {
        members.append(entity)
      }
    }
    return members
  }
}

extension NSPropertyDescription {
  /// Takes over the settings that all kinds of properties have.
  func describe(_ element: ModelElement) throws(ModelFileError) {
    name = try element.required("name")
    isOptional = element.flag("optional")
    isTransient = element.flag("transient")
    renamingIdentifier = element.text("elementID")
    versionHashModifier = element.text("versionHashModifier")
    userInfo = element.userInfo()
  }
}

import Foundation

/// The source of a mapping model as Xcode keeps it: the file `xcmapping.xml` in a folder `*.xcmappingmodel`.
///
/// The file lists objects of Xcode's editor, with attributes and relationships by name. It names the versions of the
/// two models by the paths that they had in the project.
struct MappingModelFile {
  private let url: URL
  private let objects: [String: ModelElement]
  private let root: ModelElement

  init(at url: URL) throws(ModelFileError) {
    let isFolder = (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
    let file = isFolder ? url.appending(path: "xcmapping.xml") : url
    self.url = url
    guard let data = try? Data(contentsOf: file) else {
      throw ModelFileError(file: file.path, line: nil, reason: "there is no mapping model that can be read")
    }
    guard !data.starts(with: Data("bplist".utf8)) else {
      throw ModelFileError(
        file: file.path, line: nil,
        reason: "this is a compiled mapping model; only the .xcmappingmodel it was compiled from can be read")
    }
    let database = try ModelElement.root(of: data, file: file.path, ModelFileWarnings())
    objects = Dictionary(
      database.children("object").compactMap { object in object.text("id").map { ($0, object) } }
    ) { first, _ in first }
    let root = objects.values.first { $0.text("type")?.uppercased() == "XDDEVMAPPINGMODEL" }
    guard let root else { throw database.error("there is no mapping model in this file") }
    self.root = root
  }

  /// The versions of the models that the file names, found in the folders around the file.
  func models() throws(ModelFileError) -> (source: NSManagedObjectModel, destination: NSManagedObjectModel) {
    (try model("sourcemodelpath"), try model("destinationmodelpath"))
  }

  private func model(_ key: String) throws(ModelFileError) -> NSManagedObjectModel {
    guard let path = root.value(key) else { throw root.error("there is no \(key)") }
    let components = path.split(separator: "/").map(String.init)
    var folder = url.deletingLastPathComponent().standardizedFileURL
    while true {
      for count in stride(from: components.count, to: 0, by: -1) {
        let candidate = folder.appending(path: components.suffix(count).joined(separator: "/"))
        guard FileManager.default.fileExists(atPath: candidate.path) else { continue }
        return try ModelSource(at: candidate).model
      }
      guard folder.path != "/" else { break }
      folder.deleteLastPathComponent()
    }
    throw root.error("the model \(path) is in none of the folders around this file")
  }

  /// The mappings, in the order of their numbers.
  func mappings(
    from source: NSManagedObjectModel, to destination: NSManagedObjectModel
  ) throws(ModelFileError) -> [NSEntityMapping] {
    let elements = try related(root, "entitymappings").sorted { $0.number < $1.number }
    var mappings: [NSEntityMapping] = []
    for element in elements { mappings.append(try mapping(element, source, destination)) }
    return mappings
  }

  private func related(_ element: ModelElement, _ name: String) throws(ModelFileError) -> [ModelElement] {
    let relationship = element.children("relationship").first { $0.text("name")?.lowercased() == name }
    var found: [ModelElement] = []
    for id in (relationship?.text("idrefs") ?? "").split(separator: " ") {
      guard let object = objects[String(id)] else { throw element.error("there is no object \(id)") }
      found.append(object)
    }
    return found
  }

  private func mapping(
    _ element: ModelElement, _ sourceModel: NSManagedObjectModel, _ destinationModel: NSManagedObjectModel
  ) throws(ModelFileError) -> NSEntityMapping {
    let source = element.value("sourcename").flatMap { sourceModel.entitiesByName[$0] }
    let destination = element.value("destinationname").flatMap { destinationModel.entitiesByName[$0] }
    let mapping = NSEntityMapping()
    mapping.name = element.mappingName
    (mapping.sourceEntityName, mapping.sourceEntityVersionHash) = (element.value("sourcename"), source?.versionHash)
    (mapping.destinationEntityName, mapping.destinationEntityVersionHash) = (
      element.value("destinationname"), destination?.versionHash
    )
    mapping.entityMigrationPolicyClassName = element.value("migrationpolicyclassname")
    mapping.mappingType =
      switch (source, destination) {
      case (nil, _): .addEntityMappingType
      case (_, nil): .removeEntityMappingType
      case (let source?, let destination?):
        mapping.entityMigrationPolicyClassName != nil
          ? .customEntityMappingType
          : source.versionHash == destination.versionHash ? .copyEntityMappingType : .transformEntityMappingType
      }
    try element.refuseArchive("sourceexpressiondata")
    if let name = source?.name {
      mapping.sourceExpression = NSExpression.fetchingSource(name, try element.filter())
    }
    mapping.attributeMappings = []
    for property in try related(element, "attributemappings") {
      mapping.attributeMappings?.append(
        try self.mapping(property, source) { path in NSExpression.source(path) })
    }
    mapping.relationshipMappings = []
    for property in try related(element, "relationshipmappings") {
      mapping.relationshipMappings?.append(
        try self.mapping(property, source) { path in
          guard source?.relationshipsByName[path] != nil else { return nil }
          return property.value("sourcemappingname").map { .destinations(of: path, madeBy: $0) }
            ?? .destinations(of: path)
        })
    }
    return mapping
  }

  private func mapping(
    _ element: ModelElement, _ source: NSEntityDescription?, _ expression: (_ path: String) -> NSExpression?
  ) throws(ModelFileError) -> NSPropertyMapping {
    guard let name = element.value("name") else { throw element.error("this mapping has no name") }
    try element.refuseArchive("valueexpressiondata")
    let mapping = NSPropertyMapping()
    mapping.name = name
    let given = element.value("sourcekeypath")
    guard let source, (try? KeyPathEnd(value: .object(source)).following(given ?? name)) != nil else {
      if let given, let source { throw element.error("\(source.name ?? "") has no \(given)") }
      return mapping
    }
    mapping.valueExpression = expression(given ?? name)
    return mapping
  }
}

extension ModelElement {
  /// The text of an attribute of an object of the editor; nil if it is missing or empty.
  fileprivate func value(_ name: String) -> String? {
    let text = children("attribute").first { $0.text("name")?.lowercased() == name }?.content
    return text.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The predicate for the objects that a mapping reads.
  fileprivate func filter() throws(ModelFileError) -> String {
    guard let text = value("sourcefilterpredicatestring") else { return "TRUEPREDICATE" }
    do throws(PredicateFormatError) {
      _ = try NSPredicate(parsing: text)
    } catch {
      throw self.error("the filter \"\(text)\" is not understood: \(error.reason)")
    }
    return text
  }

  fileprivate var number: Int { value("mappingnumber").flatMap { Int($0) } ?? .max }

  fileprivate var mappingName: String {
    value("name") ?? [value("sourcename"), value("destinationname")].compactMap { $0 }.joined(separator: "To")
  }

  /// Throws if the editor has archived an expression under this name that it has not made itself.
  fileprivate func refuseArchive(_ name: String) throws(ModelFileError) {
    guard value(name) != nil, !["1", "YES", "true"].contains(value("autogenerateexpression") ?? "1") else { return }
    throw error(
      "\(value("name") ?? mappingName) has an expression of its own, which Xcode has archived in a form that cannot be "
        + "read here; make the mapping model in code")
  }
}

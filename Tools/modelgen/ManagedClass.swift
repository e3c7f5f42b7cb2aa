import OpenCoreData

/// The class to write for an entity.
struct ManagedClass {
  let entityName: String
  let name: String
  let superclass: String
  /// Whether the application writes the class itself, so that only the extension is generated.
  let isExtension: Bool
  let attributes: [AttributeDeclaration]
  let relationships: [RelationshipDeclaration]
  let fetchedProperties: [FetchedDeclaration]
  /// Whether the class becomes `Identifiable`: it has no superclass of the model's own, and its `id` attribute, if
  /// there is one, is hashable.
  let isIdentifiable: Bool

  init(_ entity: NSEntityDescription, _ element: ModelElement) throws {
    entityName = entity.name ?? ""
    name = try SwiftName.check(entity.swiftClassName, element)
    superclass = entity.superentity?.swiftClassName ?? "NSManagedObject"
    isExtension = element.text("codeGenerationType") == "category"
    let properties = entity.propertiesByName
    func each<Description, Declaration>(
      _ kind: String, _ type: Description.Type, _ declare: (Description, ModelElement, String) -> Declaration
    ) throws -> [Declaration] {
      try element.children(kind).compactMap { child in
        guard let name = child.text("name"), let description = properties[name] as? Description else { return nil }
        guard !SwiftName.isTaken(name) else {
          child.warn("every managed object has a property \"\(name)\"; the model's property is omitted, use its key")
          return nil
        }
        return declare(description, child, try SwiftName.check(name, child))
      }
    }
    attributes = try each("attribute", NSAttributeDescription.self) { description, element, name in
      AttributeDeclaration(
        name: name, type: ValueType(description, isScalar: element.text("usesScalarValueType") == "YES"))
    }
    relationships = try each("relationship", NSRelationshipDescription.self) { description, _, name in
      RelationshipDeclaration(
        name: name, destination: description.destinationEntity?.swiftClassName ?? "NSManagedObject",
        kind: description.isToMany ? (description.isOrdered ? .ordered : .unordered) : .toOne)
    }
    fetchedProperties = try each("fetchedProperty", NSFetchedPropertyDescription.self) { description, _, name in
      FetchedDeclaration(name: name, destination: description.fetchRequest?.entity?.swiftClassName ?? "NSManagedObject")
    }
    isIdentifiable =
      superclass == "NSManagedObject"
      && attributes.allSatisfy { $0.name != "id" || $0.type.isHashable }
  }

  /// Whether the class becomes `Observable` where Core Data tells Swift's Observation about objects. Subclasses inherit
  /// this.
  private var isObservable: Bool { superclass == "NSManagedObject" }

  func classFile(_ access: Access) -> SourceFile {
    var file = SourceFile(name: "\(name)+CoreDataClass.swift", entity: entityName)
    // The interface of a class with a superclass of the model's own uses no name of Core Data, so the import need not
    // be public.
    let importing = superclass == "NSManagedObject" ? access.keyword : ""
    file.write(
      """
      \(importing)import CoreData

      #if canImport(Darwin)
        @objc(\(name))
      #endif
      \(access.keyword)class \(name): \(superclass) {}
      """)
    return file
  }

  func propertiesFile(_ access: Access) -> SourceFile {
    var file = SourceFile(name: "\(name)+CoreDataProperties.swift", entity: entityName)
    let open = access.keyword
    file.write(
      """
      \(open)import CoreData
      \(isObservable ? "#if !canImport(Darwin)\n  \(open)import Observation\n#endif\n" : "")
      extension \(name) {
        @nonobjc \(open)class func fetchRequest() -> NSFetchRequest<\(name)> {
          NSFetchRequest<\(name)>(entityName: "\(SwiftName.escaped(entityName))")
        }
      }

      #if canImport(Darwin)
        extension \(name) {
      """)
    for declaration in declarations { file.write(declaration.managed(open), indentation: 4) }
    file.write("  }")
    file.write("#else")
    file.write("  extension \(name) {")
    for declaration in declarations { file.write(declaration.portable(open), indentation: 4) }
    file.write("  }")
    if isObservable { file.write("\n  extension \(name): Observable {}") }
    file.write("#endif")
    if isIdentifiable { file.write("\nextension \(name): Identifiable {}") }
    return file
  }

  private var declarations: [any Declaration] { attributes + relationships + fetchedProperties }
}

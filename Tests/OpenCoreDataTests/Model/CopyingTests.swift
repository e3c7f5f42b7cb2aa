import Foundation
import Testing

@testable import OpenCoreData

@Suite("Copying, merging and freezing models")
struct CopyingTests {
  /// A zoo that has every kind of reference between parts of a model.
  private func furnished() -> Zoo {
    let zoo = Zoo()
    let element = NSFetchIndexElementDescription(property: zoo.name, collationType: .binary)
    element.isAscending = false
    zoo.animal.indexes = [NSFetchIndexDescription(name: "byName", elements: [element])]
    zoo.keeper.uniquenessConstraints = [[zoo.keeperName]]
    zoo.model.setEntities([zoo.keeper], forConfigurationName: "People")
    zoo.model.versionIdentifiers = ["1"]
    zoo.model.localizationDictionary = ["Entity/Dog": "Hund"]
    let request = NSFetchRequest<any NSFetchRequestResult>()
    request.entity = zoo.dog
    request.fetchLimit = 3
    zoo.model.setFetchRequestTemplate(request, forName: "dogs")
    let fetched = NSFetchedPropertyDescription()
    fetched.name = "dogs"
    fetched.fetchRequest = NSFetchRequest(copying: request)
    zoo.keeper.properties.append(fetched)
    return zoo
  }

  /// Whether nothing in the model refers to anything outside of it.
  private func isClosed(_ model: NSManagedObjectModel) -> Bool {
    func isInside(_ entity: NSEntityDescription?) -> Bool { entity == nil || entity!.owner === model }
    return model.entities.allSatisfy { entity in
      isInside(entity) && isInside(entity.superentity) && entity.subentities.allSatisfy(isInside)
        && entity.properties.allSatisfy { isInside($0.entity) }
        && entity.relationshipsByName.values.allSatisfy {
          isInside($0.destinationEntity) && isInside($0.inverseRelationship?.entity)
        }
        && entity.indexes.flatMap(\.elements).allSatisfy { isInside($0.indexed.entity) }
        && entity.uniquenessConstraints.joined().allSatisfy { isInside(($0 as? NSPropertyDescription)?.entity) }
        && entity.properties.compactMap { ($0 as? NSFetchedPropertyDescription)?.fetchRequest?.entity }
          .allSatisfy(isInside)
    } && model.fetchRequestTemplatesByName.values.allSatisfy { isInside($0.entity) }
      && model.configurations.allSatisfy { model.entities(forConfigurationName: $0)!.allSatisfy(isInside) }
  }

  @Test("A copy of a model is equal, refers to nothing of the original, and can be changed.")
  func copy() {
    let zoo = furnished()
    zoo.model.freeze()
    let copy = copied(zoo.model)
    #expect(copy == zoo.model)
    #expect(isClosed(copy))
    #expect(copy.versionChecksum == zoo.model.versionChecksum)
    copy.entitiesByName["Dog"]?.attributesByName["tricks"]?.isOptional = false
    #expect(copy != zoo.model)
    #expect(copy.entitiesByName["Dog"]?.relationshipsByName["owner"]?.inverseRelationship?.name == "pets")
  }

  @Test("Models that share an entity merge into one that has it once.")
  func merge() throws {
    let (zoo, other) = (furnished(), furnished())
    let visitor = NSEntityDescription()
    visitor.name = "Visitor"
    other.model.entities.append(visitor)
    other.model.setEntities([other.keeper, visitor], forConfigurationName: "People")
    let merged = try #require(NSManagedObjectModel(byMerging: [zoo.model, other.model]))
    #expect(merged.entitiesByName.keys.sorted() == ["Animal", "Dog", "Keeper", "Visitor"])
    #expect(merged.entities(forConfigurationName: "People")?.compactMap(\.name) == ["Keeper", "Visitor"])
    #expect(isClosed(merged))
    #expect(merged == other.model)
  }

  @Test("Models that contradict each other do not merge.")
  func contradiction() {
    let (zoo, other) = (Zoo(), Zoo())
    other.tricks.type = .string
    #expect(NSManagedObjectModel(byMerging: [zoo.model, other.model]) == nil)
  }

  @Test("Models whose templates of one name contradict each other do not merge.")
  func contradictingTemplates() throws {
    let (zoo, other) = (furnished(), furnished())
    let request = try #require(other.model.fetchRequestTemplate(forName: "dogs"))
    request.fetchLimit = 4
    #expect(NSManagedObjectModel(byMerging: [zoo.model, other.model]) == nil)
    request.fetchLimit = 3
    let merged = try #require(NSManagedObjectModel(byMerging: [zoo.model, other.model]))
    #expect(merged.fetchRequestTemplate(forName: "dogs")?.fetchLimit == 3)
  }

  @Test("Of several versions of a model, a store's metadata find the right one.")
  func forMetadata() throws {
    let (old, new) = (Zoo(), Zoo())
    new.tricks.type = .string
    let visitor = NSEntityDescription()
    visitor.name = "Visitor"
    new.model.entities.append(visitor)
    func metadata(_ zoo: Zoo) -> [String: Any] {
      ["NSStoreModelVersionHashes": zoo.model.entityVersionHashesByName]
    }
    for zoo in [old, new] {
      let found = try #require(
        NSManagedObjectModel(byMerging: [old.model, new.model], forStoreMetadata: metadata(zoo)))
      #expect(found == zoo.model)
      #expect(found.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata(zoo)))
    }
    #expect(!old.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata(new)))
    #expect(!old.model.isConfiguration(withName: "none", compatibleWithStoreMetadata: metadata(old)))
    #expect(NSManagedObjectModel(byMerging: [old.model], forStoreMetadata: metadata(new)) == nil)
    #expect(NSManagedObjectModel(byMerging: [old.model], forStoreMetadata: [:]) == nil)
  }

  @Test("A store of one configuration fits its model and finds it.")
  func configurationForMetadata() throws {
    let zoo = furnished()
    let metadata = ["NSStoreModelVersionHashes": ["Keeper": zoo.keeper.versionHash]]
    #expect(zoo.model.isConfiguration(withName: "People", compatibleWithStoreMetadata: metadata))
    #expect(!zoo.model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    #expect(NSManagedObjectModel(byMerging: [zoo.model], forStoreMetadata: metadata) == zoo.model)
  }

  @Test("A model in parts is found by the metadata of a store of all parts.")
  func partsForMetadata() throws {
    let zoo = Zoo()
    let other = NSManagedObjectModel()
    let visitor = NSEntityDescription()
    visitor.name = "Visitor"
    other.entities = [visitor]
    let whole = try #require(NSManagedObjectModel(byMerging: [zoo.model, other]))
    let metadata = ["NSStoreModelVersionHashes": whole.entityVersionHashesByName]
    #expect(NSManagedObjectModel(byMerging: [zoo.model, other], forStoreMetadata: metadata) == whole)
  }

  @Test("A model in use has the same version hashes and properties as before.")
  func frozenTables() {
    let (zoo, other) = (furnished(), furnished())
    zoo.model.freeze()
    #expect(zoo.model.entityVersionHashesByName == other.model.entityVersionHashesByName)
    #expect(zoo.dog.versionHash == other.dog.versionHash)
    #expect(zoo.dog.properties == other.dog.properties)
    #expect(zoo.dog.propertiesByName == other.dog.propertiesByName)
    #expect(zoo.model == other.model)
  }

  @Test("A copy of a template in use can be changed, and the template stays the same.")
  func templates() throws {
    let zoo = furnished()
    zoo.model.freeze()
    let template = try #require(zoo.model.fetchRequestTemplate(forName: "dogs"))
    let copy = copied(template)
    copy.fetchLimit = 1
    #expect(template.fetchLimit == 3 && copy.entityName == "Dog")
    #expect(zoo.model.fetchRequestTemplate(forName: "cats") == nil)
  }

  @Test("Changing a model in use ends the program.", arguments: 0..<9)
  func freezing(part: Int) async {
    await #expect(processExitsWith: .failure) { [part] in
      let zoo = CopyingTests().furnished()
      zoo.model.freeze()
      switch part {
      case 0: zoo.model.entities = []
      case 1: zoo.dog.name = "Cat"
      case 2: zoo.name.isOptional = false
      case 3: zoo.owner.destinationEntity = nil
      case 4: zoo.animal.indexes[0].name = "other"
      case 5: zoo.animal.indexes[0].elements[0].isAscending = true
      case 6: zoo.model.fetchRequestTemplate(forName: "dogs")?.fetchLimit = 1
      case 7: zoo.model.setEntities([], forConfigurationName: "People")
      default: zoo.dog.subentities = []
      }
    }
  }

  @Test("A model with fetched properties, and a copy of it, are freed.")
  func freed() {
    weak var model: NSManagedObjectModel?
    weak var entity: NSEntityDescription?
    weak var copiedEntity: NSEntityDescription?
    do {
      let zoo = furnished()
      let copy = copied(zoo.model)
      let fetched = zoo.keeper.propertiesByName["dogs"] as? NSFetchedPropertyDescription
      #expect(fetched?.fetchRequest?.entity === zoo.dog && fetched?.fetchRequest?.entityName == "Dog")
      (model, entity, copiedEntity) = (zoo.model, zoo.dog, copy.entitiesByName["Dog"])
      #expect(model != nil && entity != nil && copiedEntity != nil)
    }
    #expect(model == nil && entity == nil && copiedEntity == nil)
  }
}

public import Foundation

/// The entities of an application, with configurations, which are named selections of them, and templates of requests.
///
/// A model is made in code, read from Xcode's model files, or merged of others. Two models are equal if they say the
/// same.
///
/// A model may be changed, by one thread at a time, until a coordinator uses it. Changing it or any part of it later
/// stops the program; change a copy instead. A model in use may be read from any thread.
open class NSManagedObjectModel: NSObject, NSCopying, Freezable {
  /// The entities, in no particular order. All that relationships and subentities refer to must be among them.
  open var entities: [NSEntityDescription] = [] {
    willSet {
      willChange()
      for entity in entities { entity.owner = nil }
    }
    didSet { for entity in entities { entity.owner = self } }
  }

  /// The texts to show for names of entities, properties and validation errors, by keys such as
  /// `Property/name/Entity/Person`.
  open var localizationDictionary: [String: String]? { willSet { willChange() } }

  /// What developers call this version of the model.
  open var versionIdentifiers: Set<AnyHashable> = [] { willSet { willChange() } }

  /// The templates of requests, by their names.
  open private(set) var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]

  /// What was assumed when the model, or those it was merged of, were read from files, file by file in the order of the
  /// lines. Does not count when models are compared.
  public internal(set) var fileWarnings: [ModelFileWarning] = []

  private(set) var entitiesByConfiguration: [String: [NSEntityDescription]] = [:]
  private(set) var isFrozen = false
  private var frozenTables: (entitiesByName: [String: NSEntityDescription], hashes: [String: Data])?

  /// A model without entities.
  public override init() {}

  /// What the merged models say of their entities; nil if two of them say different things of one.
  ///
  /// An entity may occur in several models if all say the same of it. The models stay as they are. Nil stands for the
  /// models of the main bundle; see ``mergedModel(from:fileID:)``.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    guard let models = models ?? Self.mergedModel(from: nil, fileID: "").map({ [$0] }) else { return nil }
    self.init()
    guard merge(models) else { return nil }
  }

  /// The entities by their names.
  ///
  /// - Complexity: once a coordinator uses the model, O(1); before, O(number of entities).
  open var entitiesByName: [String: NSEntityDescription] {
    frozenTables?.entitiesByName
      ?? Dictionary(entities.compactMap { entity in entity.name.map { ($0, entity) } }) { _, last in last }
  }

  /// The names of the configurations, in alphabetical order.
  open var configurations: [String] { entitiesByConfiguration.keys.sorted() }

  /// The entities of the configuration of that name: all for nil, nil if there is no such configuration.
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
    return entitiesByConfiguration[configuration]
  }

  /// What a store says its configuration is when none was asked for.
  static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

  /// Makes a configuration of entities of the model, or changes it.
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
    willChange()
    precondition(
      entities.allSatisfy { $0.owner === self }, "\(configuration) has an entity that does not belong to the model.")
    entitiesByConfiguration[configuration] = entities
  }

  /// The template of that name, which cannot be changed once the model is in use; nil if there is none.
  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    fetchRequestTemplatesByName[name]
  }

  /// A request as the template says, with the variables of its predicate replaced; nil if there is no such template.
  open func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    guard let template = fetchRequestTemplatesByName[name] else { return nil }
    let request = NSFetchRequest<any NSFetchRequestResult>(copying: template)
    request.predicate = template.predicate?.withSubstitutionVariables(variables)
    return request
  }

  /// Keeps the request as a template of that name; nil removes it.
  open func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
  ) {
    willChange()
    fetchRequestTemplatesByName[name] = fetchRequestTemplate
  }

  /// The version hashes of the entities, by their names. A store keeps them to tell whether a model fits.
  ///
  /// - Complexity: once a coordinator uses the model, O(1); before, everything is computed at every call.
  open var entityVersionHashesByName: [String: Data] {
    frozenTables?.hashes ?? entitiesByName.mapValues(\.versionHash)
  }

  /// The version hashes of all entities in one, as a text.
  open var versionChecksum: String { VersionHash.current.model(entityVersionHashesByName).base64EncodedString() }

  /// Whether the checksum is that of this version of the model, as it is computed now or as it was.
  func hasVersionChecksum(_ checksum: String) -> Bool {
    let former = VersionHash.former
    return checksum == versionChecksum
      || checksum == former.model(entitiesByName.mapValues(former.entity)).base64EncodedString()
  }

  /// Whether the entities of a configuration, or all of them, are the very versions that the metadata of a store names.
  ///
  /// Hashes in which the counts of relationships had no part, as older stores have them, name a version whatever its
  /// counts are.
  open func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let entities = entities(forConfigurationName: configuration),
      let hashes = metadata[Self.versionHashesKey] as? [String: Data]
    else { return false }
    return entities.count == hashes.count
      && entities.allSatisfy { entity in entity.name.map { entity.hasVersionHash(hashes[$0]) } ?? false }
  }

  /// Under which the metadata of a store have the version hashes.
  static let versionHashesKey = "NSStoreModelVersionHashes"

  /// From now on neither the model nor any part of it can be changed.
  func freeze() { freezing.withLock(freezeOnce) }

  private func freezeOnce() {
    guard !isFrozen else { return }
    for entity in entities { freeze(entity) }
    for template in fetchRequestTemplatesByName.values { template.freeze() }
    let entitiesByName = entitiesByName
    frozenTables = (entitiesByName, entitiesByName.mapValues(\.versionHash))
    isFrozen = true
    ModelsInUse.shared.add(self)
  }

  private func freeze(_ entity: NSEntityDescription) {
    if let superentity = entity.superentity { freeze(superentity) }
    entity.freeze()
  }

  /// A model that says the same and can be changed.
  ///
  /// - Complexity: O(size of the model).
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSManagedObjectModel()
    copy.adopt([self])
    return copy
  }

  open override var hash: Int { entities.count }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSManagedObjectModel else { return false }
    return self === other
      || entitiesByName == other.entitiesByName && versionIdentifiers == other.versionIdentifiers
        && localizationDictionary == other.localizationDictionary
        && entitiesByConfiguration.mapValues { Set($0.map(\.name)) }
          == other.entitiesByConfiguration.mapValues { Set($0.map(\.name)) }
        && Set(fetchRequestTemplatesByName.keys) == Set(other.fetchRequestTemplatesByName.keys)
        && fetchRequestTemplatesByName.allSatisfy { name, template in
          other.fetchRequestTemplatesByName[name].map(template.asks(theSameAs:)) ?? false
        }
  }
}

/// Held while a model is frozen: several threads may begin to use it at the same time.
private let freezing = NSLock()

public import Foundation
import Synchronization

/// The entities of an application, with configurations, which are named selections of entities, and templates of
/// requests.
///
/// A model is made in code, read from Xcode's model files, or merged from other models. Two models are equal if their
/// contents are equal.
///
/// A model may be changed, by one thread at a time, until it is in use: until a coordinator uses it or an object of one
/// of its entities is made. Changing it or any part of it later stops the program; change a copy instead. A model in
/// use may be read from any thread.
open class NSManagedObjectModel: NSObject, NSCopying, Freezable {
  /// The entities, in no particular order. Every entity to which a relationship or a list of subentities refers must be
  /// among them.
  open var entities: [NSEntityDescription] = [] {
    willSet {
      willChange()
      for entity in entities { entity.owner = nil }
    }
    didSet {
      for entity in entities {
        entity.owner = self
        entity.note(module)
      }
    }
  }

  /// The texts to show for the names of entities, properties and validation errors, by keys such as
  /// `Property/name/Entity/Person`.
  open var localizationDictionary: [String: String]? { willSet { willChange() } }

  /// The identifiers that developers give this version of the model.
  open var versionIdentifiers: Set<AnyHashable> = [] { willSet { willChange() } }

  /// The templates of requests, by their names. See ``setFetchRequestTemplate(_:forName:)``.
  open private(set) var fetchRequestTemplatesByName: [String: NSFetchRequest<any NSFetchRequestResult>] = [:]

  /// The assumptions made when the model, or the models it was merged from, were read from files: file by file, in the
  /// order of the lines. Ignored when models are compared.
  public internal(set) var fileWarnings: [ModelFileWarning] = []

  /// Whether ``warnings`` are written to standard error when a store is added.
  open var logsWarnings = true { willSet { willChange() } }

  /// The folders of the files from which the model was read.
  var folders: Set<URL> = []
  private(set) var entitiesByConfiguration: [String: [NSEntityDescription]] = [:]
  private(set) var isFrozen = false
  /// Empty unless the model is in use.
  private(set) var derivations = Derivations()
  private var frozenTables: (entitiesByName: [String: NSEntityDescription], hashes: [String: Data])?

  /// The module that made the model; nil if it is not known.
  private let module: String?
  private let knownCallers = Locked<[String]>([])

  /// A model without entities.
  @_disfavoredOverload
  public override init() { module = nil }

  /// A model without entities. If a class name does not include a module, the class is looked up in the module that
  /// calls this initializer, then in the modules that make coordinators of the model, describe stores of these, or add
  /// stores to them.
  ///
  /// - Parameter fileID: The file of the caller.
  public init(fileID: String = #fileID) { module = ManagedObjectClass.module(of: fileID) }

  /// The merger of the models; nil if two of them describe an entity or a template of a request differently, if an
  /// entity has no name, or if the models of the main bundle cannot be read.
  ///
  /// An entity or a template may occur in several models if all its descriptions are equal. The models are not changed.
  /// Nil stands for the models of the main bundle; see ``mergedModel(from:fileID:)``.
  public convenience init?(byMerging models: [NSManagedObjectModel]?) {
    guard let models = models ?? Self.mergedModel(from: nil, fileID: "").map({ [$0] }) else { return nil }
    self.init(fileID: "")
    guard merge(models) else { return nil }
  }

  /// The entities by their names.
  ///
  /// - Complexity: O(1) once the model is in use; before that, O(number of entities).
  open var entitiesByName: [String: NSEntityDescription] {
    frozenTables?.entitiesByName
      ?? Dictionary(entities.compactMap { entity in entity.name.map { ($0, entity) } }) { _, last in last }
  }

  /// The names of the configurations, in alphabetical order.
  open var configurations: [String] { entitiesByConfiguration.keys.sorted() }

  /// The entities of the configuration with that name. All entities if the name is nil; nil if there is no such
  /// configuration.
  open func entities(forConfigurationName configuration: String?) -> [NSEntityDescription]? {
    guard let configuration, configuration != Self.defaultConfigurationName else { return entities }
    return entitiesByConfiguration[configuration]
  }

  /// The name that a store has for its configuration if it was added without one. It stands for all entities.
  static let defaultConfigurationName = "PF_DEFAULT_CONFIGURATION_NAME"

  /// Adds a configuration with these entities of the model, or replaces it. Traps if an entity belongs to no model or
  /// to another one.
  open func setEntities(_ entities: [NSEntityDescription], forConfigurationName configuration: String) {
    willChange()
    require(
      entities.allSatisfy { $0.owner === self }, "\(configuration) has an entity that does not belong to the model.")
    entitiesByConfiguration[configuration] = entities
  }

  /// The template with that name, which cannot be changed once the model is in use; nil if there is none.
  open func fetchRequestTemplate(forName name: String) -> NSFetchRequest<any NSFetchRequestResult>? {
    fetchRequestTemplatesByName[name]
  }

  /// A copy of a template in which values replace the variables of the predicate; nil if there is no such template.
  open func fetchRequestFromTemplate(
    withName name: String, substitutionVariables variables: [String: Any]
  ) -> NSFetchRequest<any NSFetchRequestResult>? {
    guard let template = fetchRequestTemplatesByName[name] else { return nil }
    let request = NSFetchRequest<any NSFetchRequestResult>(copying: template)
    request.predicate = template.predicate?.withSubstitutionVariables(variables)
    return request
  }

  /// Sets the template with that name to the request itself, not to a copy; nil removes the template.
  open func setFetchRequestTemplate(
    _ fetchRequestTemplate: NSFetchRequest<any NSFetchRequestResult>?, forName name: String
  ) {
    willChange()
    fetchRequestTemplatesByName[name] = fetchRequestTemplate
  }

  /// The version hashes of the entities, by their names. A store keeps them to tell whether a model fits it.
  ///
  /// - Complexity: O(1) once the model is in use; before that, all hashes are computed at every call.
  open var entityVersionHashesByName: [String: Data] {
    frozenTables?.hashes ?? entitiesByName.mapValues(\.versionHash)
  }

  /// A hash of the version hashes of all entities, in base 64.
  open var versionChecksum: String { VersionHash.current.model(entityVersionHashesByName).base64EncodedString() }

  /// Whether the checksum is that of this version of the model, computed as it is now or as it was when hashes did not
  /// include the counts of relationships.
  func hasVersionChecksum(_ checksum: String) -> Bool {
    let former = VersionHash.former
    return checksum == versionChecksum
      || checksum == former.model(entitiesByName.mapValues(former.entity)).base64EncodedString()
  }

  /// Whether the version hashes of the entities of a configuration, or of all entities for nil, are exactly those in
  /// the metadata of a store.
  ///
  /// Hashes in older stores do not include the counts of relationships, so they match whatever the counts are.
  open func isConfiguration(
    withName configuration: String?, compatibleWithStoreMetadata metadata: [String: Any]
  ) -> Bool {
    guard let entities = entities(forConfigurationName: configuration),
      let hashes = metadata[Self.versionHashesKey] as? [String: Data]
    else { return false }
    return entities.count == hashes.count
      && entities.allSatisfy { entity in entity.name.map { entity.hasVersionHash(hashes[$0]) } ?? false }
  }

  /// Whether all entities have the version hashes that they have in another model.
  func hasSameVersions(as other: NSManagedObjectModel) -> Bool {
    isConfiguration(
      withName: nil, compatibleWithStoreMetadata: [Self.versionHashesKey: other.entityVersionHashesByName])
  }

  /// The modules that use the model, other than those recorded for its entities.
  var callers: [String] { knownCallers.withLock { $0 } }

  /// Records that the module of a file uses the model. May be called when the model is frozen.
  func note(callerIn fileID: String) {
    guard let module = ManagedObjectClass.module(of: fileID) else { return }
    knownCallers.withLock { if !$0.contains(module) { $0.append(module) } }
  }

  /// The key of the version hashes in the metadata of a store.
  static let versionHashesKey = "NSStoreModelVersionHashes"

  /// Freezes the model: from now on neither the model nor any part of it can be changed.
  func freeze() { freezing.withLock(freezeOnce) }

  private func freezeOnce() {
    guard !isFrozen else { return }
    for entity in entities { freeze(entity) }
    for template in fetchRequestTemplatesByName.values { template.freeze() }
    let entitiesByName = entitiesByName
    frozenTables = (entitiesByName, entitiesByName.mapValues(\.versionHash))
    derivations = Derivations(entities)
    isFrozen = true
    ModelsInUse.shared.add(self)
    for entity in entities { entity.isModelFrozen.store(true, ordering: .releasing) }
  }

  private func freeze(_ entity: NSEntityDescription) {
    if let superentity = entity.superentity { freeze(superentity) }
    entity.freeze()
  }

  /// A copy of the model that can be changed.
  ///
  /// - Complexity: O(size of the model).
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSManagedObjectModel(fileID: "")
    copy.logsWarnings = logsWarnings
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

/// Held while a model is frozen, because several threads may begin to use it at the same time.
private let freezing = NSLock()

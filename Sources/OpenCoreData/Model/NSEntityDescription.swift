public import Foundation
import Synchronization

/// A kind of managed object: its name, its class, its properties, and the entity it inherits properties from.
///
/// Two descriptions are equal if their contents are equal, whatever model they belong to. A description may be changed,
/// by one thread at a time, until a coordinator uses its model or an object of the model is made. Changing it later
/// stops the program; from then on any thread may read it.
open class NSEntityDescription: NSObject, NSCopying, Freezable {
  /// The name, unique in the model.
  open var name: String? { willSet { willChange() } }

  /// The name of the class of its objects; that of ``NSManagedObject`` unless set.
  open var managedObjectClassName: String! = "NSManagedObject" { willSet { willChange() } }

  /// Whether only its subentities have objects.
  open var isAbstract = false { willSet { willChange() } }

  /// Any information that the application adds; does not affect the version hash.
  open var userInfo: [AnyHashable: Any]? { willSet { willChange() } }

  /// A text that is part of the version hash, to distinguish two versions that nothing else distinguishes.
  open var versionHashModifier: String? { willSet { willChange() } }

  /// The indexes it declares.
  open var indexes: [NSFetchIndexDescription] = [] {
    willSet { willChange() }
    didSet { for index in indexes { index.entity = self } }
  }

  /// Combinations of properties, each given by name or description, for which the application wants an index. No store
  /// in this package uses them.
  @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
  open var compoundIndexes: [[Any]] {
    get { givenCompoundIndexes }
    set {
      willChange()
      givenCompoundIndexes = newValue
    }
  }

  /// Combinations of attributes, each given by name or description. No two objects may have equal values for a
  /// combination.
  open var uniquenessConstraints: [[Any]] = [] { willSet { willChange() } }

  /// The entities that inherit from it directly. They must be in the model too, and it must not inherit from them. An
  /// entity that already inherits from another one no longer does.
  open var subentities: [NSEntityDescription] = [] {
    willSet {
      willChange()
      let ancestors = sequence(first: self) { $0.superentity }
      require(
        newValue.allSatisfy { entity in !ancestors.contains { $0 === entity } }, "An entity would inherit from itself.")
      for entity in subentities { entity.superentity = nil }
    }
    didSet {
      for entity in subentities {
        if let former = entity.superentity, former !== self { former.subentities.removeAll { $0 === entity } }
        entity.superentity = self
      }
    }
  }

  /// The entity it inherits from, if any: the one that has it among its ``subentities``.
  open internal(set) weak var superentity: NSEntityDescription? { willSet { willChange() } }

  /// The properties that the entity declares, without the inherited ones.
  private(set) var ownProperties: [NSPropertyDescription] = []
  /// The modules in which to look first for a class whose name does not include its module: those that made the entity
  /// and its model, as far as they were recorded.
  private(set) var modules: [String] = []
  weak var owner: NSManagedObjectModel?
  private(set) var isFrozen = false
  /// Whether the whole model is frozen. Threads that find it true see the frozen model, without the lock.
  let isModelFrozen = Atomic(false)
  private var givenRenamingIdentifier: String?
  private var givenCompoundIndexes: [[Any]] = []
  private var frozenTables: EntityTables?
  private var frozenLayout: EntityLayout?
  private var frozenClass: NSManagedObject.Type?
  /// The class of its objects if it was found only after the model was frozen.
  private let lateClass = Locked<NSManagedObject.Type?>(nil)
  private var frozenNameHash: Int?

  /// An entity without name and properties.
  @_disfavoredOverload
  public override init() {}

  /// An entity without name and properties. If its class name does not include a module, the class is looked up in the
  /// module that calls this initializer, then where ``NSManagedObjectModel/init(fileID:)`` says.
  ///
  /// - Parameter fileID: The file of the caller.
  public init(fileID: String = #fileID) {
    super.init()
    note(ManagedObjectClass.module(of: fileID))
  }

  init(copying other: NSEntityDescription, properties: [NSPropertyDescription]) {
    name = other.name
    managedObjectClassName = other.managedObjectClassName
    modules = other.modules
    isAbstract = other.isAbstract
    userInfo = other.userInfo
    versionHashModifier = other.versionHashModifier
    uniquenessConstraints = other.uniquenessConstraints
    givenRenamingIdentifier = other.givenRenamingIdentifier
    givenCompoundIndexes = other.givenCompoundIndexes
    super.init()
    self.properties = properties
    indexes = other.indexes.map { copied($0) }
    referToOwnProperties()
  }

  /// Records a module in which to look for the class.
  func note(_ module: String?) {
    if let module, !modules.contains(module) { modules.append(module) }
  }

  /// Makes indexes and constraints refer to the properties of this entity instead of other properties with the same
  /// names.
  func referToOwnProperties() {
    let properties = propertiesByName
    for index in indexes {
      index.elements = index.elements.map { element in
        let indexed = element.indexed
        return element.copy(
          for: indexed is NSExpressionDescription ? copied(indexed) : properties[indexed.name] ?? indexed)
      }
    }
    func own(_ combinations: [[Any]]) -> [[Any]] {
      combinations.map { combination in
        combination.map { part in (part as? NSPropertyDescription).map { properties[$0.name] ?? $0 } ?? part }
      }
    }
    uniquenessConstraints = own(uniquenessConstraints)
    givenCompoundIndexes = own(givenCompoundIndexes)
  }

  /// The model it belongs to. Traps if there is none.
  open var managedObjectModel: NSManagedObjectModel {
    guard let owner else {
      fatalError("The entity \(name ?? "without name") belongs to no model, or its model is gone.")
    }
    return owner
  }

  /// The name under which migration finds the entity in another version of the model; the entity's own name unless set.
  open var renamingIdentifier: String? {
    get { givenRenamingIdentifier ?? name }
    set {
      willChange()
      givenRenamingIdentifier = newValue
    }
  }

  /// All properties: first the inherited ones, then those that the entity declares.
  ///
  /// Setting it makes the entity declare the given properties, except those that it inherits already.
  open var properties: [NSPropertyDescription] {
    get { tables.properties }
    set {
      willChange()
      let inherited = Set((superentity?.properties ?? []).map(ObjectIdentifier.init))
      for property in ownProperties { property.owner = nil }
      ownProperties = newValue.filter { !inherited.contains(ObjectIdentifier($0)) }
      for property in ownProperties { property.owner = self }
    }
  }

  /// All properties, inherited ones too, by their names.
  open var propertiesByName: [String: NSPropertyDescription] { tables.propertiesByName }

  /// All attributes, inherited ones too, by their names.
  open var attributesByName: [String: NSAttributeDescription] { tables.attributesByName }

  /// All relationships, inherited ones too, by their names.
  open var relationshipsByName: [String: NSRelationshipDescription] { tables.relationshipsByName }

  /// The entities that inherit from it directly, by their names.
  open var subentitiesByName: [String: NSEntityDescription] {
    subentities.reduce(into: [:]) { table, entity in
      if let name = entity.name { table[name] = entity }
    }
  }

  /// Identifies the version of the entity with which a store was written: 32 bytes that depend on the name, on
  /// ``isAbstract``, on ``versionHashModifier``, on the version hash of the superentity and on those of the attributes
  /// and relationships that the entity declares. The hash is the same in every process.
  ///
  /// - Complexity: O(1) once the model is in use; before that, the hash is computed at every call.
  open var versionHash: Data { frozenTables?.versionHash ?? VersionHash.current.entity(self) }

  /// Whether `hash` is the hash of this version of the entity, computed as it is now or as it was for older stores.
  func hasVersionHash(_ hash: Data?) -> Bool { hash == versionHash || hash == VersionHash.former.entity(self) }

  /// Whether the entity equals `entity` or inherits from it.
  open func isKindOf(entity: NSEntityDescription) -> Bool {
    sequence(first: self) { $0.superentity }.contains(entity)
  }

  /// The relationships, inherited ones too, whose destination is `entity`.
  open func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
    properties.compactMap { $0 as? NSRelationshipDescription }.filter { $0.destinationEntity == entity }
  }

  /// The class of its objects; nil if there is no such class in the program.
  ///
  /// - Complexity: O(1) once the model is in use and the class was found; before that, the class is looked up at every
  ///   call.
  var managedObjectClass: NSManagedObject.Type? {
    if let frozenClass { return frozenClass }
    guard isFrozen else { return ManagedObjectClass.of(self) }
    return lateClass.withLock { late in
      if late == nil { late = ManagedObjectClass.of(self) }
      return late
    }
  }

  private var tables: EntityTables { frozenTables ?? EntityTables(of: self) }

  /// The places of the values in the entity's objects. Traps unless the model is frozen.
  var layout: EntityLayout {
    guard let frozenLayout else { fatalError("The entity \(name ?? "") is not in use.") }
    return frozenLayout
  }

  /// Freezes the model. To be called before an object is made, because the model must not change any more then.
  func freezeModel() {
    if !isModelFrozen.load(ordering: .acquiring) { managedObjectModel.freeze() }
  }

  /// Freezes the entity. To be called on the superentity first.
  func freeze() {
    guard !isFrozen else { return }
    var tables = EntityTables(of: self)
    tables.versionHash = VersionHash.current.entity(self)
    frozenTables = tables
    frozenLayout = EntityLayout(tables.properties)
    frozenClass = ManagedObjectClass.of(self)
    frozenNameHash = name.hashValue
    isFrozen = true
    for property in ownProperties { property.freeze() }
    for index in indexes { index.freeze() }
  }

  /// A copy that belongs to no model and has neither superentity nor subentities.
  open func copy(with zone: NSZone? = nil) -> Any {
    NSEntityDescription(copying: self, properties: ownProperties.map { copied($0) })
  }

  open override var hash: Int { frozenNameHash ?? name.hashValue }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSEntityDescription else { return false }
    return self === other || says(theSameAs: other)
  }

  private func says(theSameAs other: NSEntityDescription) -> Bool {
    name == other.name && managedObjectClassName == other.managedObjectClassName && isAbstract == other.isAbstract
      && superentity?.name == other.superentity?.name && versionHashModifier == other.versionHashModifier
      && renamingIdentifier == other.renamingIdentifier && areEqual(userInfo, other.userInfo)
      && uniquenessConstraintNames == other.uniquenessConstraintNames && indexes == other.indexes
      && Self.names(in: givenCompoundIndexes) == Self.names(in: other.givenCompoundIndexes)
      && subentities.map(\.name) == other.subentities.map(\.name) && ownProperties == other.ownProperties
  }

  /// The names of the attributes in the uniqueness constraints.
  var uniquenessConstraintNames: [[String]] { Self.names(in: uniquenessConstraints) }

  private static func names(in combinations: [[Any]]) -> [[String]] {
    combinations.map { combination in
      combination.map { ($0 as? NSPropertyDescription)?.name ?? String(describing: $0) }
    }
  }
}

extension NSEntityDescription: PropertyValue {
  func property(_ key: String) -> PredicateValue? {
    switch key {
    case "name": PredicateValue(name)
    case "managedObjectClassName": PredicateValue(managedObjectClassName)
    case "isAbstract": .integer(isAbstract ? 1 : 0)
    case "userInfo": PredicateValue(userInfo)
    default: nil
    }
  }
}

/// Tables computed from an entity's properties, kept once the entity is frozen.
private struct EntityTables {
  let properties: [NSPropertyDescription]
  let propertiesByName: [String: NSPropertyDescription]
  let attributesByName: [String: NSAttributeDescription]
  let relationshipsByName: [String: NSRelationshipDescription]
  var versionHash: Data?

  init(of entity: NSEntityDescription) {
    properties = (entity.superentity?.properties ?? []) + entity.ownProperties
    propertiesByName = Dictionary(properties.map { ($0.name, $0) }) { _, declared in declared }
    attributesByName = propertiesByName.compactMapValues { $0 as? NSAttributeDescription }
    relationshipsByName = propertiesByName.compactMapValues { $0 as? NSRelationshipDescription }
  }
}

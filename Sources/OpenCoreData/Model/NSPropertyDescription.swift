public import Foundation

/// The description of a property of an entity: its name, whether its value may be missing, and what its values must
/// satisfy.
///
/// Use a subclass: ``NSAttributeDescription``, ``NSRelationshipDescription``, ``NSFetchedPropertyDescription`` or
/// ``NSExpressionDescription``. Two descriptions are equal if their contents are equal, whatever model they belong to.
///
/// A description may be changed, by one thread at a time, until a coordinator uses its model or an object of the model
/// is made. Changing it later stops the program; from then on any thread may read it.
open class NSPropertyDescription: NSObject, NSCopying, Freezable {
  /// The name, unique among the properties of the entity and of those it inherits from.
  open var name = "" { willSet { willChange() } }

  /// Whether an object may be saved without a value; true unless set.
  open var isOptional = true { willSet { willChange() } }

  /// Whether values are tracked but not stored.
  open var isTransient = false { willSet { willChange() } }

  /// Whether the application wants an index. No store in this package uses it, and it does not affect the version hash.
  @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
  open var isIndexed: Bool {
    get { wantsIndex }
    set {
      willChange()
      wantsIndex = newValue
    }
  }

  /// Any information that the application adds; does not affect the version hash.
  open var userInfo: [AnyHashable: Any]? { willSet { willChange() } }

  /// A text that is part of the version hash, to distinguish two versions that nothing else distinguishes, such as
  /// after a change of the meaning of binary data.
  open var versionHashModifier: String? { willSet { willChange() } }

  /// The predicates that values must satisfy to be saved; set by
  /// ``setValidationPredicates(_:withValidationWarnings:)``.
  open private(set) var validationPredicates: [NSPredicate] = []

  /// For each validation predicate, what to report if a value does not satisfy it: a text, or the code of a validation
  /// error.
  open private(set) var validationWarnings: [Any] = []

  weak var owner: NSEntityDescription?
  private(set) var isFrozen = false
  private var givenRenamingIdentifier: String?
  private var wantsIndex = false

  /// A description without a name.
  public override init() {}

  init(copying other: NSPropertyDescription) {
    name = other.name
    isOptional = other.isOptional
    isTransient = other.isTransient
    userInfo = other.userInfo
    versionHashModifier = other.versionHashModifier
    validationPredicates = other.validationPredicates
    validationWarnings = other.validationWarnings
    givenRenamingIdentifier = other.givenRenamingIdentifier
    wantsIndex = other.wantsIndex
  }

  /// The entity that declares the property, also where another entity inherits it. Traps if there is none.
  open var entity: NSEntityDescription {
    guard let owner else { fatalError("The property \(name) belongs to no entity, or its model is gone.") }
    return owner
  }

  /// The name under which migration finds the property in another version of the model; its own name unless set.
  open var renamingIdentifier: String? {
    get { givenRenamingIdentifier ?? name }
    set {
      willChange()
      givenRenamingIdentifier = newValue
    }
  }

  /// Identifies the version of the property with which a store was written: 32 bytes that depend on the name, on
  /// ``isOptional``, ``isTransient`` and ``versionHashModifier``, and on what subclasses add.
  ///
  /// - Complexity: The hash is computed at every call.
  open var versionHash: Data { VersionHash.current.property(self) }

  /// Sets the predicates that values must satisfy, and for each predicate the warning for a value that does not satisfy
  /// it. Traps unless there are as many warnings as predicates.
  ///
  /// A predicate is evaluated with the value itself as its object. Predicates and warnings do not affect the version
  /// hash.
  open func setValidationPredicates(
    _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
  ) {
    setValidation(validationPredicates ?? [], warnings: validationWarnings ?? [])
  }

  func setValidation(_ predicates: [NSPredicate], warnings: [Any]) {
    willChange()
    require(predicates.count == warnings.count, "Every validation predicate of \(name) needs one warning.")
    validationPredicates = predicates.map(\.adopted)
    validationWarnings = warnings
  }

  func freeze() { isFrozen = true }

  /// A copy that belongs to no entity.
  open func copy(with zone: NSZone? = nil) -> Any { NSPropertyDescription(copying: self) }

  open override var hash: Int { name.hashValue }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyDescription else { return false }
    return self === other || type(of: self) == type(of: other) && says(theSameAs: other)
  }

  /// Whether two descriptions of the same class have equal contents.
  func says(theSameAs other: NSPropertyDescription) -> Bool {
    name == other.name && isOptional == other.isOptional && isTransient == other.isTransient
      && versionHashModifier == other.versionHashModifier && renamingIdentifier == other.renamingIdentifier
      && wantsIndex == other.wantsIndex && owner?.name == other.owner?.name && areEqual(userInfo, other.userInfo)
      && validationPredicates.elementsEqual(other.validationPredicates, by: areEqual)
      && areEqual(validationWarnings, other.validationWarnings)
  }
}

extension NSPropertyDescription: PropertyValue {
  func property(_ key: String) -> PredicateValue? {
    switch key {
    case "name": .string(name)
    case "entity": PredicateValue(owner)
    case "isOptional": .integer(isOptional ? 1 : 0)
    case "isTransient": .integer(isTransient ? 1 : 0)
    case "userInfo": PredicateValue(userInfo)
    default: nil
    }
  }
}

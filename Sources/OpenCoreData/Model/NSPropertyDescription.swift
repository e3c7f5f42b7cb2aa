public import Foundation

/// What an entity says about one of its properties: its name, whether it may be missing, what its values must satisfy.
///
/// Use a subclass: ``NSAttributeDescription``, ``NSRelationshipDescription``, ``NSFetchedPropertyDescription`` or
/// ``NSExpressionDescription``. Two descriptions are equal if they say the same, whatever model they belong to.
///
/// A description may be changed, by one thread at a time, until a coordinator uses its model. Changing it later stops
/// the program; from then on any thread may read it.
open class NSPropertyDescription: NSObject, NSCopying, Freezable {
  /// The name, unique among the properties of the entity and of those it inherits from.
  open var name = "" { willSet { willChange() } }

  /// Whether an object may be saved without a value; true unless set.
  open var isOptional = true { willSet { willChange() } }

  /// Whether values are tracked but not stored.
  open var isTransient = false { willSet { willChange() } }

  /// Whether the application asks for an index. No store here looks at it; it does not affect the version hash.
  @available(*, deprecated, message: "Use NSEntityDescription.indexes instead")
  open var isIndexed: Bool {
    get { wantsIndex }
    set {
      willChange()
      wantsIndex = newValue
    }
  }

  /// Anything the application wants to note; does not affect the version hash.
  open var userInfo: [AnyHashable: Any]? { willSet { willChange() } }

  /// A text that makes the version hash another one where nothing else tells two versions apart, such as a change of
  /// the meaning of binary data.
  open var versionHashModifier: String? { willSet { willChange() } }

  /// What values must satisfy to be saved; set by ``setValidationPredicates(_:withValidationWarnings:)``.
  open private(set) var validationPredicates: [NSPredicate] = []

  /// For each of the validation predicates what is wrong when it does not hold: a text, or the number of a validation
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

  /// The entity that declares the property, also where another one inherits it. There must be one.
  open var entity: NSEntityDescription {
    guard let owner else { preconditionFailure("The property \(name) belongs to no entity, or its model is gone.") }
    return owner
  }

  /// The name under which migration finds the property in another version of the model: its own, unless set.
  open var renamingIdentifier: String? {
    get { givenRenamingIdentifier ?? name }
    set {
      willChange()
      givenRenamingIdentifier = newValue
    }
  }

  /// Tells which version of the property a store was written with: 32 bytes that depend on the name, on whether it is
  /// optional and transient, on ``versionHashModifier`` and on what subclasses add.
  ///
  /// - Complexity: computed at every call.
  open var versionHash: Data { VersionHash.current.property(self) }

  /// Sets what values must satisfy, and for each predicate what to say when it does not hold.
  ///
  /// A predicate is evaluated with the value itself as its object. Neither affects the version hash.
  open func setValidationPredicates(
    _ validationPredicates: [NSPredicate]?, withValidationWarnings validationWarnings: [String]?
  ) {
    setValidation(validationPredicates ?? [], warnings: validationWarnings ?? [])
  }

  func setValidation(_ predicates: [NSPredicate], warnings: [Any]) {
    willChange()
    precondition(predicates.count == warnings.count, "Every validation predicate of \(name) needs one warning.")
    validationPredicates = predicates.map(\.adopted)
    validationWarnings = warnings
  }

  func freeze() { isFrozen = true }

  /// A description that says the same and belongs to no entity.
  open func copy(with zone: NSZone? = nil) -> Any { NSPropertyDescription(copying: self) }

  open override var hash: Int { name.hashValue }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? NSPropertyDescription else { return false }
    return self === other || type(of: self) == type(of: other) && says(theSameAs: other)
  }

  /// Whether two descriptions of one class say the same.
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

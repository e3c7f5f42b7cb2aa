public import Foundation

/// An attribute of an entity: a value of some type.
open class NSAttributeDescription: NSPropertyDescription {
  /// The type of the values.
  open var attributeType = NSAttributeType.undefinedAttributeType { willSet { willChange() } }

  /// The value of a newly inserted object; nil for no value.
  open var defaultValue: Any? { willSet { willChange() } }

  /// The name of the ``ValueTransformer`` that turns values of a transformable attribute into data; nil, or an empty text
  /// as Xcode writes it, for secure archiving.
  ///
  /// The transformer must be registered when a store is added.
  open var valueTransformerName: String? { willSet { willChange() } }

  /// Whether a store may keep large data outside the object's row.
  open var allowsExternalBinaryDataStorage = false { willSet { willChange() } }

  /// Whether the persistent history keeps the last value of a deleted object.
  open var preservesValueInHistoryOnDeletion = false { willSet { willChange() } }

  private var givenValueClassName: String?

  /// An attribute without name and type.
  public override init() { super.init() }

  init(copying other: NSAttributeDescription) {
    attributeType = other.attributeType
    defaultValue = other.defaultValue
    valueTransformerName = other.valueTransformerName
    allowsExternalBinaryDataStorage = other.allowsExternalBinaryDataStorage
    preservesValueInHistoryOnDeletion = other.preservesValueInHistoryOnDeletion
    givenValueClassName = other.givenValueClassName
    super.init(copying: other)
  }

  /// The type of the values, as an ``AttributeType``.
  open var type: AttributeType {
    get { AttributeType(rawValue: attributeType) }
    set { attributeType = newValue.rawValue }
  }

  /// The name of the class of the values. Unless set, it follows from the type, and is nil for undefined and
  /// transformable attributes.
  open var attributeValueClassName: String? {
    get { givenValueClassName ?? attributeType.valueClassName }
    set {
      willChange()
      givenValueClassName = newValue
    }
  }

  /// See ``NSPropertyDescription/versionHash``; depends on the type too.
  open override var versionHash: Data { VersionHash.current.attribute(self) }

  open override func copy(with zone: NSZone? = nil) -> Any { NSAttributeDescription(copying: self) }

  override func says(theSameAs other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSAttributeDescription, super.says(theSameAs: other) else { return false }
    return attributeType == other.attributeType && areEqual(defaultValue, other.defaultValue)
      && valueTransformerName == other.valueTransformerName
      && attributeValueClassName == other.attributeValueClassName
      && allowsExternalBinaryDataStorage == other.allowsExternalBinaryDataStorage
      && preservesValueInHistoryOnDeletion == other.preservesValueInHistoryOnDeletion
  }
}

public import Foundation

/// An attribute made of other attributes. Its value is a dictionary with their names as keys; key paths such as
/// `address.city` reach into it.
open class NSCompositeAttributeDescription: NSAttributeDescription {
  /// The attributes that make up the composite; they may be composites themselves.
  open var elements: [NSAttributeDescription] = [] { willSet { willChange() } }

  /// A composite without elements.
  public override init() {
    super.init()
    attributeType = .compositeAttributeType
  }

  init(copying other: NSCompositeAttributeDescription) {
    elements = other.elements.map { copied($0) }
    super.init(copying: other)
  }

  /// See ``NSAttributeDescription/versionHash``; depends on the version hashes of the elements too.
  open override var versionHash: Data { VersionHash.current.composite(self) }

  override func freeze() {
    super.freeze()
    for element in elements { element.freeze() }
  }

  open override func copy(with zone: NSZone? = nil) -> Any { NSCompositeAttributeDescription(copying: self) }

  override func says(theSameAs other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSCompositeAttributeDescription, super.says(theSameAs: other) else { return false }
    return elements == other.elements
  }
}

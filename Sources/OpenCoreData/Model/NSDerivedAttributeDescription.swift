public import Foundation

/// An attribute whose value is computed from other properties when an object is saved, for example by `pets.@count` or
/// `canonical:(name)`.
open class NSDerivedAttributeDescription: NSAttributeDescription {
  /// The expression that computes the value; nil if no value is derived.
  open var derivationExpression: NSExpression? { willSet { willChange() } }

  /// A derived attribute without name, type and expression.
  public override init() { super.init() }

  init(copying other: NSDerivedAttributeDescription) {
    derivationExpression = other.derivationExpression
    super.init(copying: other)
  }

  open override func copy(with zone: NSZone? = nil) -> Any { NSDerivedAttributeDescription(copying: self) }

  override func says(theSameAs other: NSPropertyDescription) -> Bool {
    guard let other = other as? NSDerivedAttributeDescription, super.says(theSameAs: other) else { return false }
    return derivationExpression == other.derivationExpression
  }
}

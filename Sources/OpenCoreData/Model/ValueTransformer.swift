public import Foundation

/// The name under which a value transformer is registered.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  /// The name as a text.
  public let rawValue: String

  /// The name with that text.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The name with that text.
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// Turns values into other values and, if it can, back: as which data a transformable attribute is stored.
///
/// Foundation has none on this platform. Subclass it, override what transforms, and register an instance under the name
/// that the attribute gives. An instance is used by any thread, so it must not change after it was registered.
open class ValueTransformer: NSObject {
  private static let registry = ValueTransformerRegistry()

  /// A transformer, which nobody finds by a name yet.
  public override init() {}

  /// The transformer that is registered under the name; nil if there is none of this class.
  public convenience init?(forName name: NSValueTransformerName) {
    guard let transformer = Self.registry[name] as? Self else { return nil }
    self.init(adopting: transformer)
  }

  /// Registers a transformer, in place of an earlier one of that name; nil removes it.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    registry[name] = transformer
  }

  /// The names of all that are registered, in no particular order.
  open class func valueTransformerNames() -> [NSValueTransformerName] { registry.names }

  /// The class of what ``transformedValue(_:)`` gives.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Whether ``reverseTransformedValue(_:)`` works; true unless overridden.
  open class func allowsReverseTransformation() -> Bool { true }

  /// The value, transformed; nil if that is not possible. Gives the value itself unless overridden.
  open func transformedValue(_ value: Any?) -> Any? { value }

  /// What was transformed into the value; nil if that is not possible. Gives the value transformed unless overridden.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    precondition(Self.allowsReverseTransformation(), "\(Self.self) does not transform back.")
    return transformedValue(value)
  }
}

extension ValueTransformer: Adopting {}

/// The transformers by their names. Registered transformers do not change.
private final class ValueTransformerRegistry: Sendable {
  private let transformers = Locked<[NSValueTransformerName: ValueTransformer]>([
    .secureUnarchiveFromDataTransformerName: NSSecureUnarchiveFromDataTransformer()
  ])

  subscript(name: NSValueTransformerName) -> ValueTransformer? {
    get { transformers.withLock { $0[name] } }
    set { transformers.withLock { $0[name] = newValue } }
  }

  var names: [NSValueTransformerName] { transformers.withLock { Array($0.keys) } }
}

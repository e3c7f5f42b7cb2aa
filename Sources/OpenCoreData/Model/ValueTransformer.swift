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

/// Turns values into other values and, if possible, back. A transformable attribute is stored as the data that its
/// transformer makes of the value.
///
/// Foundation has no such class on this platform. Subclass it, override its methods, and register an instance under the
/// name that the attribute gives. Any thread may use the instance, so it must not change after it is registered.
open class ValueTransformer: NSObject {
  private static let registry = ValueTransformerRegistry()

  /// A transformer that is not registered under any name.
  public override init() {}

  /// The transformer registered under the name; nil if there is none, or if it is not of this class.
  public convenience init?(forName name: NSValueTransformerName) {
    guard let transformer = Self.registry[name] as? Self else { return nil }
    self.init(adopting: transformer)
  }

  /// Registers a transformer under a name, in place of an earlier one; nil removes it.
  open class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
    registry[name] = transformer
  }

  /// The names of all registered transformers, in no particular order.
  open class func valueTransformerNames() -> [NSValueTransformerName] { registry.names }

  /// The class of the values that ``transformedValue(_:)`` returns.
  open class func transformedValueClass() -> AnyClass { NSObject.self }

  /// Whether ``reverseTransformedValue(_:)`` works; true unless overridden.
  open class func allowsReverseTransformation() -> Bool { true }

  /// The transformed value; nil if the value cannot be transformed. Returns the value itself unless overridden.
  open func transformedValue(_ value: Any?) -> Any? { value }

  /// The value that was transformed into `value`; nil if there is none. Unless overridden, returns
  /// ``transformedValue(_:)``. Traps if ``allowsReverseTransformation()`` is false.
  open func reverseTransformedValue(_ value: Any?) -> Any? {
    require(Self.allowsReverseTransformation(), "\(Self.self) does not transform back.")
    return transformedValue(value)
  }
}

extension ValueTransformer: Adopting {}

/// The transformers by their names. Registered transformers do not change.
private final class ValueTransformerRegistry: Sendable {
  private let transformers: Locked<[NSValueTransformerName: ValueTransformer]> = {
    let secure = NSSecureUnarchiveFromDataTransformer()
    // Models use the name of the class, too: on Apple's platforms, Foundation makes a transformer of such a class.
    let className = NSValueTransformerName("NSSecureUnarchiveFromDataTransformer")
    return Locked([
      .secureUnarchiveFromDataTransformerName: secure, className: secure,
      .negateBooleanTransformerName: NegatingTransformer(), .isNilTransformerName: NilTestingTransformer(),
      .isNotNilTransformerName: NotNilTestingTransformer(),
    ])
  }()

  subscript(name: NSValueTransformerName) -> ValueTransformer? {
    get { transformers.withLock { $0[name] } }
    set { transformers.withLock { $0[name] = newValue } }
  }

  var names: [NSValueTransformerName] { transformers.withLock { Array($0.keys) } }
}

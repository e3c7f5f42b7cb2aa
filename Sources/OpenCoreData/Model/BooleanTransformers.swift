import Foundation

extension NSValueTransformerName {
  /// The name of a transformer that negates a boolean, in both directions.
  public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
  /// The name of a transformer that returns whether there is no value.
  public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
  /// The name of a transformer that returns whether there is a value.
  public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
}

final class NegatingTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSNumber.self }

  override func transformedValue(_ value: Any?) -> Any? {
    NSNumber(value: (value.flatMap { $0 as? NSNumber })?.boolValue != true)
  }
}

final class NilTestingTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSNumber.self }
  override class func allowsReverseTransformation() -> Bool { false }

  override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: value == nil) }
}

final class NotNilTestingTransformer: ValueTransformer {
  override class func transformedValueClass() -> AnyClass { NSNumber.self }
  override class func allowsReverseTransformation() -> Bool { false }

  override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: value != nil) }
}

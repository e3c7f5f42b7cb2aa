/// The kinds of values an attribute can have. The raw values are those of Core Data and are kept in stores.
public enum NSAttributeType: UInt, Sendable {
  /// No type: only for transient attributes and for expressions whose type does not matter.
  case undefinedAttributeType = 0
  /// A 16-bit signed integer.
  case integer16AttributeType = 100
  /// A 32-bit signed integer.
  case integer32AttributeType = 200
  /// A 64-bit signed integer.
  case integer64AttributeType = 300
  /// An `NSDecimalNumber`.
  case decimalAttributeType = 400
  /// A `Double`.
  case doubleAttributeType = 500
  /// A `Float`.
  case floatAttributeType = 600
  /// A `String`.
  case stringAttributeType = 700
  /// A `Bool`.
  case booleanAttributeType = 800
  /// A `Date`.
  case dateAttributeType = 900
  /// `Data`.
  case binaryDataAttributeType = 1000
  /// A `UUID`.
  case UUIDAttributeType = 1100
  /// A `URL`.
  case URIAttributeType = 1200
  /// Any object that a value transformer turns into data.
  case transformableAttributeType = 1800
  /// The identifier of a managed object; only as the type of an expression.
  case objectIDAttributeType = 2000
  /// A dictionary of other attributes; see ``NSCompositeAttributeDescription``.
  case compositeAttributeType = 2100
}

extension NSAttributeType {
  /// The name of the class of the values; nil if the type does not determine the class.
  var valueClassName: String? {
    switch self {
    case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
      .floatAttributeType, .booleanAttributeType:
      "NSNumber"
    case .decimalAttributeType: "NSDecimalNumber"
    case .stringAttributeType: "NSString"
    case .dateAttributeType: "NSDate"
    case .binaryDataAttributeType: "NSData"
    case .UUIDAttributeType: "NSUUID"
    case .URIAttributeType: "NSURL"
    case .objectIDAttributeType: "NSManagedObjectID"
    case .compositeAttributeType: "NSDictionary"
    case .undefinedAttributeType, .transformableAttributeType: nil
    }
  }
}

extension NSAttributeDescription {
  /// The kinds of values an attribute can have: ``NSAttributeType`` in its newer spelling.
  public struct AttributeType: RawRepresentable, Hashable, Sendable {
    /// The same type in the older spelling.
    public let rawValue: NSAttributeType

    /// The same type in the newer spelling.
    public init(rawValue: NSAttributeType) { self.rawValue = rawValue }

    /// No type.
    public static let undefined = AttributeType(rawValue: .undefinedAttributeType)
    /// A 16-bit signed integer.
    public static let integer16 = AttributeType(rawValue: .integer16AttributeType)
    /// A 32-bit signed integer.
    public static let integer32 = AttributeType(rawValue: .integer32AttributeType)
    /// A 64-bit signed integer.
    public static let integer64 = AttributeType(rawValue: .integer64AttributeType)
    /// An `NSDecimalNumber`.
    public static let decimal = AttributeType(rawValue: .decimalAttributeType)
    /// A `Double`.
    public static let double = AttributeType(rawValue: .doubleAttributeType)
    /// A `Float`.
    public static let float = AttributeType(rawValue: .floatAttributeType)
    /// A `String`.
    public static let string = AttributeType(rawValue: .stringAttributeType)
    /// A `Bool`.
    public static let boolean = AttributeType(rawValue: .booleanAttributeType)
    /// A `Date`.
    public static let date = AttributeType(rawValue: .dateAttributeType)
    /// `Data`.
    public static let binaryData = AttributeType(rawValue: .binaryDataAttributeType)
    /// A `UUID`.
    public static let uuid = AttributeType(rawValue: .UUIDAttributeType)
    /// A `URL`.
    public static let uri = AttributeType(rawValue: .URIAttributeType)
    /// Any object that a value transformer turns into data.
    public static let transformable = AttributeType(rawValue: .transformableAttributeType)
    /// The identifier of a managed object.
    public static let objectID = AttributeType(rawValue: .objectIDAttributeType)
    /// A dictionary of other attributes.
    public static let composite = AttributeType(rawValue: .compositeAttributeType)
  }
}

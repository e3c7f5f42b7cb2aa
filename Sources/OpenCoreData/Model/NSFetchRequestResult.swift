public import Foundation

/// What a fetch can give: managed objects, their identifiers, dictionaries of values, or their number.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// What a fetch is to give. The raw values are those of Core Data.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  /// The number by which Core Data knows the type.
  public let rawValue: UInt

  /// The type of that number.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// Managed objects.
  public static var managedObjectResultType: NSFetchRequestResultType { NSFetchRequestResultType([]) }
  /// The identifiers of objects.
  public static var managedObjectIDResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 1) }
  /// Dictionaries with the values of some properties.
  public static var dictionaryResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 2) }
  /// The number of objects.
  public static var countResultType: NSFetchRequestResultType { NSFetchRequestResultType(rawValue: 4) }
}

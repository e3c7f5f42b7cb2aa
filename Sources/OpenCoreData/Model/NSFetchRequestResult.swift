public import Foundation

/// A result of a fetch: a managed object, its identifier, a dictionary of values, or the number of objects.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The kind of results that a fetch returns. The raw values are those of Core Data.
public struct NSFetchRequestResultType: OptionSet, Sendable {
  /// Core Data's number for the type.
  public let rawValue: UInt

  /// The type with that number.
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

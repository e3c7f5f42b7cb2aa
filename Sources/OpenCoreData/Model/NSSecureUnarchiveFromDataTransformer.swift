import Foundation

extension NSValueTransformerName {
  /// The name of the transformer that archives and unarchives property lists securely.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// Unarchives data to objects of allowed classes, and archives objects to data as its reverse.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes that data may hold: collections, strings, numbers, dates, data, UUIDs, URLs and null, unless overridden.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
      NSURL.self, NSUUID.self, NSNull.self,
    ]
  }

  /// An object of the data; nil for anything else, and for data with an object of another class.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data, Self.isAllowed(data) else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.allowedTopLevelClasses, from: data)
  }

  /// Data of the object; nil if it cannot be archived.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }

  /// Whether every class in the archive is an allowed one or inherits from one. The unarchiver of this platform ends the
  /// program where one is not, so this looks first.
  private static func isAllowed(_ archive: Data) -> Bool {
    guard
      let contents = try? unsafe PropertyListSerialization.propertyList(from: archive, format: nil) as? [String: Any],
      let objects = contents["$objects"] as? [Any]
    else { return false }
    let allowed = Set(allowedTopLevelClasses.map { NSStringFromClass($0) })
    return objects.compactMap { ($0 as? [String: Any])?["$classes"] as? [String] }
      .allSatisfy { !allowed.isDisjoint(with: $0) }
  }
}

import Foundation

extension NSValueTransformerName {
  /// The name under which an ``NSSecureUnarchiveFromDataTransformer`` is registered.
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

/// Unarchives data to objects of allowed classes; in reverse, archives objects to data.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  /// The classes that an archive may contain: collections, strings, numbers, dates, data, UUIDs, URLs and null, unless
  /// overridden.
  open class var allowedTopLevelClasses: [AnyClass] {
    [
      NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
      NSURL.self, NSUUID.self, NSNull.self,
    ]
  }

  /// The object archived in the data; nil if the value is not an archive, or if the archive contains another class.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data, Self.isAllowed(data) else { return nil }
    return try? NSKeyedUnarchiver.unarchivedObject(ofClasses: Self.allowedTopLevelClasses, from: data)
  }

  /// The archive of the object; nil if it cannot be archived.
  open override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let value else { return nil }
    return try? NSKeyedArchiver.archivedData(withRootObject: value, requiringSecureCoding: true)
  }

  /// Whether every class in the archive is allowed or inherits from an allowed class. This is checked before
  /// unarchiving, because the unarchiver of this platform ends the program at a class that is not allowed.
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

import Foundation

extension NSValueTransformerName {
  /// The name under which an ``NSSecureUnarchiveFromDataTransformer`` is registered; it is also registered under the name
  /// of its class.
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
  ///
  /// The unarchiver of this platform may end the program if references between the objects of an archive are damaged.
  /// So the data should come from where damage is noticed: the row stores of this package verify a checksum first.
  open override func transformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data, Self.isAllowed(data) else { return nil }
    guard let unarchiver = try? NSKeyedUnarchiver(forReadingFrom: data) else { return nil }
    unarchiver.requiresSecureCoding = true
    // Otherwise everything that the unarchiver finds wrong ends the program.
    unarchiver.decodingFailurePolicy = .setErrorAndReturn
    let object = unarchiver.decodeObject(of: Self.allowedTopLevelClasses, forKey: NSKeyedArchiveRootObjectKey)
    return unarchiver.error == nil ? object : nil
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
    return objects.allSatisfy { object in
      guard let object = object as? [String: Any], object["$classname"] != nil || object["$classes"] != nil
      else { return true }
      guard let name = object["$classname"] as? String, let names = object["$classes"] as? [String]
      else { return false }
      return names.first == name && !allowed.isDisjoint(with: names)
    }
  }
}

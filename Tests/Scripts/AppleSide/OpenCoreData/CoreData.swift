// OpenCoreData under Apple's name, with key-value coding for every object, which Foundation has on Apple's platforms
// only.
public import Foundation
@_exported public import OpenCoreData

open class NSObject: Foundation.NSObject, KeyValueCoding {
  open func value(forKey key: String) -> Any? { preconditionFailure("\(self) has no value for the key \(key).") }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// What Foundation has on Apple's platforms, and lacks here: key-value coding.
public import Foundation

open class NSObject: Foundation.NSObject {
  public override init() {}
  open func value(forKey key: String) -> Any? { fatalError() }
  open func setValue(_ value: Any?, forKey key: String) { fatalError() }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Key-value coding, which Foundation has on Apple's platforms but not here.
public import Foundation

open class NSObject: Foundation.NSObject {
  public override init() {}
  open func value(forKey key: String) -> Any? { fatalError() }
  open func setValue(_ value: Any?, forKey key: String) { fatalError() }
}

// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// Value transformers, which Foundation has on Apple's platforms but not here.
public import Foundation

public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

extension NSValueTransformerName {
  public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
}

open class ValueTransformer: NSObject {
  public convenience init?(forName name: NSValueTransformerName) { fatalError() }
  open func transformedValue(_ value: Any?) -> Any? { fatalError() }
  open func reverseTransformedValue(_ value: Any?) -> Any? { fatalError() }
}

open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
  open class var allowedTopLevelClasses: [AnyClass] { fatalError() }
}

/// The name of a method, as on Apple's platforms; here it only tells sort descriptors how to compare.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name.
  public let description: String

  /// A selector of this name.
  public init(_ name: String) { description = name }

  /// A selector of this name.
  public init(stringLiteral name: String) { description = name }
}

/// The selector of this name.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }

/// The name of a selector.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.description }

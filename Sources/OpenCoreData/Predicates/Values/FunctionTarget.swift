/// An object whose functions expressions call by their names, as in `FUNCTION($policy, "price:", $source.amount)`.
///
/// Apple's Core Data sends the object a message. There are no messages without Objective-C, so the object itself has to
/// know its functions by name.
public protocol FunctionTarget {
  /// The value of a function.
  ///
  /// - Parameters:
  ///   - name: The name as the expression writes it, with a colon for each argument.
  ///   - arguments: The values of the arguments: numbers as `NSNumber`, collections as arrays or `NSSet`.
  func callFunction(_ name: String, arguments: [Any?]) -> Any?
}

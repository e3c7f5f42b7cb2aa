import Foundation

/// Reads what the values of an attribute must satisfy: minimum and maximum value, minimum and maximum length, a
/// pattern.
struct AttributeBounds {
  /// A predicate on a value, and the code of the validation error for a value that does not satisfy it.
  typealias Rule = (predicate: NSPredicate, code: Int)

  private let element: ModelElement
  private let type: NSAttributeType

  init(_ element: ModelElement, _ type: NSAttributeType) {
    self.element = element
    self.type = type
  }

  func rules() -> [Rule] {
    let value = AttributeValue(element, type)
    return switch type {
    case .stringAttributeType:
      [
        rule("length >= %@", element.count("minValueString"), 1670),
        rule("length <= %@", element.count("maxValueString"), 1660), rule("SELF MATCHES %@", pattern(), 1680),
      ].compactMap { $0 }
    case .dateAttributeType:
      [
        rule("SELF >= %@", value.bound("minDateTimeInterval"), 1640),
        rule("SELF <= %@", value.bound("maxDateTimeInterval"), 1630),
      ].compactMap { $0 }
    default:
      type.isNumeric
        ? [
          rule("SELF >= %@", value.bound("minValueString"), 1620),
          rule("SELF <= %@", value.bound("maxValueString"), 1610),
        ].compactMap { $0 } : []
    }
  }

  private func pattern() -> String? {
    guard let pattern = element.text("regularExpressionString") else { return nil }
    let predicate = NSPredicate(format: "SELF MATCHES %@", pattern)
    if (try? CompiledPredicate(predicate, reading: .objects)) != nil { return pattern }
    element.warn("regularExpressionString is no regular expression; any text is assumed to match")
    return nil
  }

  private func rule(_ format: String, _ bound: Any?, _ code: Int) -> Rule? {
    bound.map { (NSPredicate(format: format, $0), code) }
  }
}

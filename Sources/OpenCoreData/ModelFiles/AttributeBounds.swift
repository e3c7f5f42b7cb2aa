import Foundation

/// Reads what the values of an attribute must satisfy: least and greatest, shortest and longest, a pattern.
struct AttributeBounds {
  /// A predicate on a value, and the code of the error where it does not hold.
  typealias Rule = (predicate: NSPredicate, code: Int)

  private let element: ModelElement
  private let type: NSAttributeType

  init(_ element: ModelElement, _ type: NSAttributeType) {
    self.element = element
    self.type = type
  }

  func rules() throws(ModelFileError) -> [Rule] {
    let value = AttributeValue(element, type)
    return switch type {
    case .stringAttributeType: try textRules()
    case .dateAttributeType:
      [
        rule("SELF >= %@", try value.date("minDateTimeInterval"), 1640),
        rule("SELF <= %@", try value.date("maxDateTimeInterval"), 1630),
      ].compactMap { $0 }
    default:
      type.isNumeric
        ? [
          rule("SELF >= %@", try value.number("minValueString"), 1620),
          rule("SELF <= %@", try value.number("maxValueString"), 1610),
        ].compactMap { $0 } : []
    }
  }

  private func textRules() throws(ModelFileError) -> [Rule] {
    if let pattern = element.text("regularExpressionString"), (try? NSRegularExpression(pattern: pattern)) == nil {
      throw element.error("regularExpressionString is no regular expression")
    }
    return [
      rule("length >= %@", try element.count("minValueString"), 1670),
      rule("length <= %@", try element.count("maxValueString"), 1660),
      rule("SELF MATCHES %@", element.text("regularExpressionString"), 1680),
    ].compactMap { $0 }
  }

  private func rule(_ format: String, _ bound: Any?, _ code: Int) -> Rule? {
    bound.map { (NSPredicate(format: format, $0), code) }
  }
}

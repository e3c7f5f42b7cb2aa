import OpenCoreData

/// Converts names in a model to names in Swift.
enum SwiftName {
  /// The name, in backticks if it is a Swift keyword.
  static func quoted(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

  /// The text escaped for a string literal, so that it stays on one line whatever it contains.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": escaped += "\\\(scalar)"
      case _ where [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory):
        escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Returns the name; throws if it is not an identifier in Swift.
  static func check(_ name: String, _ element: ModelElement) throws -> String {
    let letters = name.unicodeScalars
    guard let first = letters.first, first == "_" || first.properties.isXIDStart,
      letters.dropFirst().allSatisfy(\.properties.isXIDContinue)
    else { throw problem("\"\(name)\" is not a valid name in Swift", element) }
    return name
  }

  /// Whether every managed object has a property of that name.
  static func isTaken(_ property: String) -> Bool { taken.contains(property) }

  private static func problem(_ reason: String, _ element: ModelElement) -> ModelProblem {
    ModelProblem(file: element.file, line: element.line, reason: reason)
  }

  /// The properties that every managed object has.
  private static let taken: Set<String> = [
    "description", "debugDescription", "hash", "hashValue", "superclass", "self", "entity", "faultingState",
    "hasChanges", "hasPersistentChangedValues", "isDeleted", "isFault", "isInserted", "isUpdated",
    "managedObjectContext", "objectID",
  ]

  private static let keywords: Set<String> = [
    "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
    "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
    "protocol", "public", "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw",
    "throws", "true", "try", "typealias", "var", "where", "while",
  ]
}

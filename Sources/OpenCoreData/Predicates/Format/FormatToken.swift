import Foundation

/// A token of a format.
enum FormatToken: Equatable {
  /// A keyword, a key, or the name of a function, which may have colons.
  case word(String)
  /// `#key`, which is never a keyword.
  case key(String)
  /// `$name`
  case variable(String)
  /// `@count`
  case at(String)
  case integer(Int64)
  case decimal(Decimal)
  case double(Double)
  case string(String)
  /// `%@` and the like, with the letter.
  case placeholder(Character)
  case symbol(String)
  case end

  /// The word in capitals, for comparison with keywords; nil for other tokens.
  var keyword: String? {
    if case .word(let word) = self { word.uppercased() } else { nil }
  }

  /// The token as error messages name it.
  var name: String {
    switch self {
    case .word(let text), .symbol(let text): "'\(text)'"
    case .key(let text): "'#\(text)'"
    case .variable(let text): "'$\(text)'"
    case .at(let text): "'\(text)'"
    case .integer, .decimal, .double: "a number"
    case .string: "a string"
    case .placeholder(let letter): "'%\(letter)'"
    case .end: "the end"
    }
  }
}

/// The words that are keys only after a `#`.
enum ReservedWords {
  /// The words that can never begin an operand.
  static let operators: Set<String> = [
    "AND", "OR", "NOT", "IN", "ANY", "SOME", "ALL", "NONE", "LIKE", "MATCHES", "CONTAINS", "BEGINSWITH", "ENDSWITH",
    "BETWEEN",
  ]

  /// The words that have a meaning in some places, here or on Apple's platforms.
  private static let contextual: Set<String> = [
    "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST",
    "TERNARY", "FUNCTION", "TRUEPREDICATE", "FALSEPREDICATE",
  ]

  static func contains(_ word: some StringProtocol) -> Bool {
    let word = word.uppercased()
    return operators.contains(word) || contextual.contains(word)
  }
}

import OpenCoreData

/// Formats from outside must either be refused or work, whatever they contain.
///
/// `Tools/fuzz` feeds this with libFuzzer's inputs; the tests feed it with the corpus of inputs that were kept, and
/// with random strings.
enum FuzzedFormat {
  /// A result of a format that must not happen.
  struct Finding: Error, CustomStringConvertible {
    let description: String
  }

  private static var arguments: [Any?] {
    [
      1, "a", "b.c", 2.5, nil, [1, "x"], Date(timeIntervalSinceReferenceDate: 0.5),
    ]
  }

  private static var row: [String: Any] {
    [
      "a": 1, "b": ["c": "text"], "list": [1, 2], "items": [["a": 1], ["a": 2.5]], "x": NSNull(),
    ]
  }

  /// Throws a finding if a result must not happen. A trap ends the process and needs no finding.
  static func run(_ input: [UInt8]) throws(Finding) {
    let format = String(decoding: input, as: UTF8.self)
    guard let predicate = try? NSPredicate(parsing: format, arguments: arguments) else { return }
    let text = predicate.formatText
    let again = try parsed(text)
    guard again.formatText == text else {
      throw Finding(description: "\(text) prints as \(again.formatText) once it is parsed")
    }
    evaluate(predicate, text)
  }

  private static func parsed(_ text: String) throws(Finding) -> NSPredicate {
    do throws(PredicateFormatError) {
      return try NSPredicate(parsing: text)
    } catch {
      throw Finding(description: "what was printed does not parse: \(error)")
    }
  }

  /// Skips predicates that may rightly take endless time: regular expressions, and three subqueries or more, which may
  /// be nested.
  private static func evaluate(_ predicate: NSPredicate, _ text: String) {
    guard !text.contains("MATCHES"), text.split(separator: "SUBQUERY").count < 4 else { return }
    guard let compiled = try? CompiledPredicate(predicate, variables: ["v": 1], reading: .objects) else { return }
    _ = compiled.matches(row)
  }
}

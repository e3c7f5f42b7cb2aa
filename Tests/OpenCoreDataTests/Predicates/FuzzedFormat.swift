import OpenCoreData

/// Formats that come from outside have to be refused or to work, whatever they say.
///
/// `Tools/fuzz` feeds this with what libFuzzer thinks of; the tests feed it with the corpus that is kept of that, and with random strings.
enum FuzzedFormat {
  /// What a format has led to that it must not.
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

  /// Throws what must not have happened. What traps speaks for itself.
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

  /// Leaves alone what may rightly take time without end: regular expressions, and subqueries within subqueries within subqueries.
  private static func evaluate(_ predicate: NSPredicate, _ text: String) {
    guard !text.contains("MATCHES"), text.split(separator: "SUBQUERY").count < 4 else { return }
    guard let compiled = try? CompiledPredicate(predicate, variables: ["v": 1], reading: .objects) else { return }
    _ = compiled.matches(row)
  }
}

import Foundation

extension ModelElement {
  /// The text of the attribute; nil if it is missing or empty.
  package func text(_ attribute: String) -> String? {
    attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The text of the attribute. Throws if it is missing or empty.
  func required(_ attribute: String) throws(ModelFileError) -> String {
    guard let text = text(attribute) else { throw error("<\(kind)> has no \(attribute)") }
    return text
  }

  /// Whether the attribute is `YES`; `otherwise` if it is missing or, with a warning, if it is neither `YES` nor `NO`.
  func flag(_ attribute: String, otherwise: Bool = false) -> Bool {
    guard let text = text(attribute) else { return otherwise }
    if let flag = Bool(modelText: text) { return flag }
    warn("\(attribute) is YES or NO, not \"\(text)\"; \(otherwise ? "YES" : "NO") is assumed")
    return otherwise
  }

  /// A number that is not negative; nil if the attribute is missing or, with a warning, if it is anything else.
  func count(_ attribute: String) -> Int? {
    guard let text = text(attribute) else { return nil }
    if let count = Int(modelText: text), count >= 0 { return count }
    warn("\(attribute) is a whole number and not negative, but this is \"\(text)\"; it is passed over")
    return nil
  }

  /// One of a set of words; nil if the attribute is missing. Throws if it is another word.
  func choice<Choice>(_ attribute: String, _ choices: [String: Choice]) throws(ModelFileError) -> Choice? {
    guard let text = text(attribute) else { return nil }
    guard let choice = choices[text] else {
      let words = choices.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
      throw error("\(attribute) is one of \(words), not \"\(text)\"")
    }
    return choice
  }

  /// The predicate in the attribute; nil if the attribute is missing. Throws if the predicate cannot be parsed.
  func predicate(_ attribute: String) throws(ModelFileError) -> NSPredicate? {
    guard let text = text(attribute) else { return nil }
    do throws(PredicateFormatError) {
      return try NSPredicate(parsing: text)
    } catch {
      throw notUnderstood(attribute, error)
    }
  }

  /// The expression in the attribute. Throws if the attribute is missing or the expression cannot be parsed.
  func expression(_ attribute: String) throws(ModelFileError) -> NSExpression {
    let text = try required(attribute)
    do throws(PredicateFormatError) {
      return try NSExpression(parsing: text)
    } catch {
      throw notUnderstood(attribute, error)
    }
  }

  private func notUnderstood(_ attribute: String, _ error: PredicateFormatError) -> ModelFileError {
    let rest = error.format[error.position...]
    let place = rest.isEmpty ? "at its end" : "at \"\(rest)\""
    return self.error("\(attribute) cannot be understood \(place): \(error.reason)")
  }

  /// The entries of the `userInfo` in the element; nil if there are none.
  func userInfo() -> [AnyHashable: Any]? {
    var info: [AnyHashable: Any] = [:]
    for entry in children("userInfo").flatMap({ $0.children("entry") }) {
      guard let key = entry.assuming("the entry is left out", try entry.required("key")) else { continue }
      if info.updateValue(entry.attributes["value"] ?? "", forKey: key) != nil {
        entry.warn("the key \"\(key)\" occurs twice; this value is assumed")
      }
    }
    return info.isEmpty ? nil : info
  }
}

extension Int {
  /// A whole number, also if written with a fraction of zero, as it may be after its type was changed in the editor.
  init?(modelText: String) {
    guard let number = Int(modelText) ?? Double(modelText).flatMap(Int.init(exactly:)) else { return nil }
    self = number
  }
}

extension Double {
  /// A finite number.
  init?(modelText: String) {
    guard let number = Double(modelText), number.isFinite else { return nil }
    self = number
  }
}

extension Bool {
  /// `YES` or `NO`, as Xcode writes it now; also `true`, `false`, `1` and `0`, as others have written it. Ignores case.
  init?(modelText: String) {
    switch modelText.lowercased() {
    case "yes", "true", "1": self = true
    case "no", "false", "0": self = false
    default: return nil
    }
  }
}

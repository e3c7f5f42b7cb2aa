import Foundation

extension ModelElement {
  /// The attribute's text; nil if it is missing or empty.
  package func text(_ attribute: String) -> String? {
    attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// The attribute's text, which must be there.
  func required(_ attribute: String) throws(ModelFileError) -> String {
    guard let text = text(attribute) else { throw error("<\(kind)> has no \(attribute)") }
    return text
  }

  /// `YES` or `NO`; `otherwise` if the attribute is missing or says something else.
  func flag(_ attribute: String, otherwise: Bool = false) -> Bool {
    guard let text = text(attribute) else { return otherwise }
    if let flag = Bool(modelText: text) { return flag }
    warn("\(attribute) is YES or NO, not \"\(text)\"; \(otherwise ? "YES" : "NO") is assumed")
    return otherwise
  }

  /// A number that isn't negative; nil if the attribute is missing or something else.
  func count(_ attribute: String) -> Int? {
    guard let text = text(attribute) else { return nil }
    if let count = Int(modelText: text), count >= 0 { return count }
    warn("\(attribute) is a whole number and not negative, but this is \"\(text)\"; it is passed over")
    return nil
  }

  /// One of a set of words; nil if the attribute is missing.
  func choice<Choice>(_ attribute: String, _ choices: [String: Choice]) throws(ModelFileError) -> Choice? {
    guard let text = text(attribute) else { return nil }
    guard let choice = choices[text] else {
      let words = choices.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
      throw error("\(attribute) is one of \(words), not \"\(text)\"")
    }
    return choice
  }

  /// The predicate that the attribute holds; nil if it is missing.
  func predicate(_ attribute: String) throws(ModelFileError) -> NSPredicate? {
    guard let text = text(attribute) else { return nil }
    do throws(PredicateFormatError) {
      return try NSPredicate(parsing: text)
    } catch {
      throw notUnderstood(attribute, error)
    }
  }

  /// The expression that the attribute holds, which must be there.
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

  /// What the `userInfo` in the element says; nil if there is none.
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
  /// A whole number, also where it is written with a fraction of zero, as it is after a type was changed in the editor.
  init?(modelText: String) {
    guard let number = Int(modelText) ?? Double(modelText).flatMap(Int.init(exactly:)) else { return nil }
    self = number
  }
}

extension Double {
  /// A number that is finite.
  init?(modelText: String) {
    guard let number = Double(modelText), number.isFinite else { return nil }
    self = number
  }
}

extension Bool {
  /// As Xcode writes it now (`YES`) and others have written it.
  init?(modelText: String) {
    switch modelText.lowercased() {
    case "yes", "true", "1": self = true
    case "no", "false", "0": self = false
    default: return nil
    }
  }
}

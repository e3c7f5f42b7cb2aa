/// A pattern of `LIKE`: `?` matches any one character, `*` any number of characters, a backslash makes the next
/// character literal.
struct LikePattern {
  private enum Element {
    case character(Character)
    case anyOne
    case anyRun
  }

  private let elements: [Element]
  private let isExact: Bool

  /// A pattern. If it is exact, a character matches only the same scalars; otherwise all canonically equivalent
  /// characters.
  init(_ pattern: String, isExact: Bool) {
    self.isExact = isExact
    var elements: [Element] = []
    var rest = pattern[...]
    while let character = rest.popFirst() {
      switch character {
      case "?": elements.append(.anyOne)
      case "*": elements.append(.anyRun)
      case "\\": elements.append(.character(rest.popFirst() ?? "\\"))
      default: elements.append(.character(character))
      }
    }
    self.elements = elements
  }

  /// Whether the whole text matches the pattern. Takes time in proportion to the product of their lengths at worst.
  func matches(_ text: String) -> Bool {
    let text = Array(text)
    var (place, element) = (0, 0)
    /// The places in text and pattern after the last `*`. If the match fails, it is tried again one character later.
    var retry: (place: Int, element: Int)?
    while place < text.count {
      if element < elements.count, case .anyRun = elements[element] {
        element += 1
        retry = (place, element)
      } else if element < elements.count, isMatch(elements[element], text[place]) {
        (place, element) = (place + 1, element + 1)
      } else if let last = retry {
        retry = (last.place + 1, last.element)
        (place, element) = (last.place + 1, last.element)
      } else {
        return false
      }
    }
    return elements[element...].allSatisfy { if case .anyRun = $0 { true } else { false } }
  }

  private func isMatch(_ element: Element, _ character: Character) -> Bool {
    switch element {
    case .character(let expected):
      isExact ? character.utf8.elementsEqual(expected.utf8) : character == expected
    case .anyOne: true
    case .anyRun: false
    }
  }
}

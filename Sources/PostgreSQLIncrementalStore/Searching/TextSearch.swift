#if PostgreSQL
  import CoreData
  import IncrementalStore

  /// The form in which a comparison takes texts.
  struct TextForm {
    private enum Column {
      case whole
      case normalized
      case folded
    }

    private let column: Column
    /// Whether the server compares texts in this form as the predicate does. Otherwise texts of which the predicate is
    /// true have forms of which it is true, too, and so may other texts.
    let isExact: Bool
    let isNormalized: Bool

    /// Nil for the order of a language.
    init?(_ options: NSComparisonPredicate.Options) {
      guard !options.contains(.localeSensitive) else { return nil }
      let folding = options.intersection([.caseInsensitive, .diacriticInsensitive])
      if options.contains(.normalized) {
        (column, isExact) = (.whole, true)
      } else if folding.isEmpty {
        (column, isExact) = (.normalized, true)
      } else {
        // A text without case has the same letters without diacritics as the text itself, and the other way round.
        (column, isExact) = (.folded, folding == [.caseInsensitive, .diacriticInsensitive])
      }
      isNormalized = column == .normalized
    }

    func expression(_ operand: Operand) -> String {
      switch column {
      case .whole: operand.expression
      case .normalized: operand.normalized
      case .folded: operand.folded
      }
    }

    /// A constant in this form.
    func prepare(_ text: String) -> String {
      switch column {
      case .whole: text
      case .normalized: ColumnValues.normalized(text)
      case .folded: ColumnValues.folded(text)
      }
    }

    fileprivate func condition(_ sql: String) -> SearchCondition { isExact ? .exact(sql) : .narrowing(sql) }
  }

  extension PredicateTranslator {
    /// The condition for a comparison of a text with a constant. Texts with the character NUL are not in the columns.
    mutating func text(_ operand: Operand, _ test: ValueTest, _ constant: String) -> SearchCondition? {
      guard let form = TextForm(test.options) else { return nil }
      let (value, text) = (form.expression(operand), form.prepare(constant))
      if test.type == .like { return like(value, text) }
      guard !text.utf8.contains(0) else {
        return [.equalTo, .beginsWith, .endsWith, .contains].contains(test.type) ? form.condition("false") : nil
      }
      let isIndexed = operand.isIndexed && form.isNormalized
      switch test.type {
      case .equalTo:
        let condition = "\(value) = \(parameters.add(text))"
        guard isIndexed else { return form.condition(condition) }
        return form.condition("\(prefix(value)) = \(parameters.add(text.indexedPrefix)) AND \(condition)")
      case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
        guard form.isExact, let sign = test.sign else { return nil }
        let condition = "\(value) \(sign) \(parameters.add(text))"
        guard isIndexed else { return form.condition(condition) }
        // The beginnings may be equal.
        let bound = "\(prefix(value)) \(sign.prefix(1))= \(parameters.add(text.indexedPrefix))"
        return form.condition("\(bound) AND \(condition)")
      case .beginsWith:
        let condition = "starts_with(\(value), \(parameters.add(text)))"
        guard isIndexed, !text.isEmpty else { return form.condition(condition) }
        let start = text.indexedPrefix
        var bounds = "\(prefix(value)) >= \(parameters.add(start))"
        if let end = start.firstTextAfterItsContinuations {
          bounds += " AND \(prefix(value)) < \(parameters.add(end))"
        }
        return form.condition("\(bounds) AND \(condition)")
      case .endsWith:
        let count = parameters.add(Int64(text.unicodeScalars.count))
        return form.condition("right(\(value), \(count)::integer) = \(parameters.add(text))")
      case .contains: return form.condition("strpos(\(value), \(parameters.add(text))) > 0")
      default: return nil
      }
    }

    mutating func text(_ operand: Operand, _ test: ValueTest, in constants: [String]) -> SearchCondition? {
      guard let form = TextForm(test.options) else { return nil }
      let texts = constants.map(form.prepare).filter { !$0.utf8.contains(0) }
      let condition = "\(form.expression(operand)) = ANY(\(parameters.add(texts)))"
      guard operand.isIndexed, form.isNormalized else { return form.condition(condition) }
      let prefixes = parameters.add(texts.map(\.indexedPrefix))
      return form.condition("\(prefix(form.expression(operand))) = ANY(\(prefixes)) AND \(condition)")
    }

    private func prefix(_ value: String) -> String { Layout.Column.prefix(ofText: value) }

    /// A predicate's `?` stands for what people see as one character, and `*` does not divide such characters; the
    /// server's signs are about scalars. So its pattern is true for more texts.
    private mutating func like(_ value: String, _ pattern: String) -> SearchCondition? {
      guard !pattern.utf8.contains(0) else { return .narrowing("false") }
      var translated = ""
      var rest = pattern[...]
      func literal(_ character: Character) {
        for scalar in character.unicodeScalars {
          if ["%", "_", "\\"].contains(scalar) { translated += "\\" }
          translated.unicodeScalars.append(scalar)
        }
      }
      while let character = rest.popFirst() {
        switch character {
        case "?": translated += "_%"
        case "*": translated += "%"
        case "\\": literal(rest.popFirst() ?? "\\")
        default: literal(character)
        }
      }
      return .narrowing("\(value) LIKE \(parameters.add(translated))")
    }
  }

  extension String {
    /// As much of the text as an index has.
    fileprivate var indexedPrefix: String {
      String(String.UnicodeScalarView(unicodeScalars.prefix(Layout.Column.indexedLength)))
    }

    /// The first text after all that begin with this one, in the order of scalars; nil if there is none.
    fileprivate var firstTextAfterItsContinuations: String? {
      var scalars = Array(unicodeScalars)
      while let last = scalars.popLast() {
        // Surrogates are no scalars.
        guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
        return String(String.UnicodeScalarView(scalars + [next]))
      }
      return nil
    }
  }
#endif

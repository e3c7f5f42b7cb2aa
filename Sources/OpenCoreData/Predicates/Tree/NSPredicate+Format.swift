public import Foundation

/// Lets a convenience initialiser of a class return an instance made elsewhere, which Swift allows only through a
/// protocol.
protocol Adopting {}

extension Adopting {
  init(adopting made: Self) { self = made }
}

extension NSPredicate: Adopting {
  /// The predicate that a format describes: an `NSComparisonPredicate`, an `NSCompoundPredicate`, or one that is always
  /// true or false.
  ///
  ///     NSPredicate(format: "lastName ==[c] %@ AND ANY roles.name IN %@", "berg", ["editor", "author"])
  ///
  /// `%@` stands for a value of any type, or for an `NSExpression`; `%K` for a key path; `%d`, `%f` and the like for
  /// numbers. Traps if the format is malformed, with a message that points at the place; ``init(parsing:arguments:)``
  /// throws instead.
  public convenience init(format: String, _ arguments: Any?...) {
    self.init(trapping: format, arguments)
  }

  /// The predicate that a format describes, with the arguments in an array, where `NSNull` stands for nil.
  ///
  /// Traps as ``init(format:_:)`` does.
  public convenience init(format: String, argumentArray arguments: [Any]?) {
    self.init(trapping: format, arguments ?? [])
  }

  /// The predicate that a format describes, for formats from outside the program: throws where the other initialisers
  /// trap. Not in Apple's Core Data.
  ///
  /// Takes time in proportion to the length of the format.
  public convenience init(parsing format: String, arguments: [Any?] = []) throws(PredicateFormatError) {
    let made = try FormatParser.predicate(format, arguments)
    self.init(adopting: Self.checked(made))
  }

  private convenience init(trapping format: String, _ arguments: [Any?]) {
    do throws(PredicateFormatError) {
      try self.init(parsing: format, arguments: arguments)
    } catch {
      fatalError("\(error)")
    }
  }

  private static func checked(_ made: NSPredicate) -> Self {
    guard let made = made as? Self else {
      fatalError("the format makes a \(type(of: made)), not a \(Self.self): use NSPredicate(format:)")
    }
    return made
  }

  /// The predicate with its variables replaced by values, which are given by name without `$`. Variables without a
  /// value stay.
  public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
    Self.checked(Substitution(values: variables).apply(to: self))
  }

  /// The predicate in the format language. Parsing the text gives an equal predicate, unless the predicate contains a
  /// block or an object without a literal.
  ///
  /// This is what Apple calls `predicateFormat`. Foundation's property of that name is deprecated on other platforms,
  /// and correct only for parsed predicates, comparison predicates and constant predicates.
  public var formatText: String { FormatPrinter.text(of: self) }

  /// Whether two predicates have the same form and equal constants.
  ///
  /// Foundation's own `isEqual` treats all compound predicates as equal.
  public static func == (left: NSPredicate, right: NSPredicate) -> Bool { TreeEquality.equal(left, right) }

  /// Whether two predicates differ in form or in constants.
  public static func != (left: NSPredicate, right: NSPredicate) -> Bool { !(left == right) }
}

extension NSExpression {
  /// The expression that a format describes, as in `NSPredicate(format:_:)`.
  public convenience init(format: String, _ arguments: Any?...) {
    self.init(trapping: format, arguments)
  }

  /// The expression that a format describes, with the arguments in an array, where `NSNull` stands for nil.
  public convenience init(format: String, argumentArray arguments: [Any]) {
    self.init(trapping: format, arguments)
  }

  /// The expression that a format describes, for formats from outside the program: throws where the other initialisers
  /// trap. Not in Apple's Core Data.
  public convenience init(parsing format: String, arguments: [Any?] = []) throws(PredicateFormatError) {
    self.init(try FormatParser.expression(format, arguments).form)
  }

  private convenience init(trapping format: String, _ arguments: [Any?]) {
    do throws(PredicateFormatError) {
      try self.init(parsing: format, arguments: arguments)
    } catch {
      fatalError("\(error)")
    }
  }
}

public import Foundation

/// A predicate compiled for evaluation with many rows of one kind.
///
///     let isAdult = try CompiledPredicate(NSPredicate(format: "age >= 18"), reading: reader)
///     let adults = rows.filter(isAdult.matches)
///
/// Keys are looked up, patterns compiled and constants prepared once. Membership in a constant collection then takes
/// constant time, except with the option `[n]` and for elements whose equality may change, such as objects that are not
/// saved. A compiled predicate agrees with `evaluate(with:)` of the predicate. Several threads may use it at the same
/// time if the reader, and the constants and blocks in the predicate, allow that.
public struct CompiledPredicate<Row> {
  private let test: (Row, Bindings) -> Bool
  private let bindings: Bindings

  /// Compiles a predicate. Takes time in proportion to its size, constant collections included.
  ///
  /// - Parameters:
  ///   - predicate: The predicate. Subclasses of `NSPredicate` other than Core Data's get the object of the row.
  ///   - variables: The values of its variables, by name without `$`.
  ///   - reader: Reads the rows.
  public init(
    _ predicate: NSPredicate, variables: [String: Any] = [:], reading reader: RowReader<Row>
  ) throws(PredicateCompilationError) {
    test = try PredicateCompiler(rows: reader, variables: variables).compile(predicate)
    bindings = Bindings(named: variables)
  }

  /// Whether the predicate holds for a row.
  public func matches(_ row: Row) -> Bool { test(row, bindings) }
}

/// An expression compiled for evaluation with many rows of one kind; see ``CompiledPredicate``.
public struct CompiledExpression<Row> {
  private let read: (Row, Bindings) -> PredicateValue
  private let bindings: Bindings

  /// Compiles an expression. Takes time in proportion to its size, constant collections included.
  public init(
    _ expression: NSExpression, variables: [String: Any] = [:], reading reader: RowReader<Row>
  ) throws(PredicateCompilationError) {
    read = try PredicateCompiler(rows: reader, variables: variables).compile(expression).reader
    bindings = Bindings(named: variables)
  }

  /// The value of the expression for a row.
  public func value(of row: Row) -> PredicateValue { read(row, bindings) }
}

import Foundation

/// Checks the parts of a fetch request and compiles them for rows, or for groups of rows.
struct FetchCompiler<Row> {
  let validator: FetchRequestValidator
  let reader: RowReader<Row>

  func test(_ predicate: NSPredicate?) throws(FetchRequestError) -> (Row) -> Bool {
    guard let predicate else { return { _ in true } }
    try validator.check(predicate)
    do throws(PredicateCompilationError) {
      return try CompiledPredicate(predicate, reading: reader).matches
    } catch {
      throw FetchRequestError(.notEvaluable(error), validator.entity, keyPath: predicate.formatText)
    }
  }

  func value(of expression: NSExpression) throws(FetchRequestError) -> (Row) -> PredicateValue {
    try validator.checkToOne(expression)
    do throws(PredicateCompilationError) {
      return try CompiledExpression(expression, reading: reader).value
    } catch {
      throw FetchRequestError(.notEvaluable(error), validator.entity, keyPath: expression.name)
    }
  }

  /// Nil if there are no sort descriptors.
  func sort(_ descriptors: [NSSortDescriptor]?) throws(FetchRequestError) -> CompiledSort<Row>? {
    guard let descriptors, !descriptors.isEmpty else { return nil }
    for descriptor in descriptors { try validator.check(descriptor) }
    do throws(PredicateCompilationError) {
      return try CompiledSort(descriptors, reading: reader)
    } catch {
      throw FetchRequestError(.notEvaluable(error), validator.entity)
    }
  }
}

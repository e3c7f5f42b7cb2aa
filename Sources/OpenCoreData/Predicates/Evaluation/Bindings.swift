/// The values of the variables in one evaluation.
struct Bindings {
  /// The values that were given by name.
  var named: [String: Any]?
  /// The current elements of the subqueries that are being evaluated, the innermost last.
  var iterators: [PredicateValue] = []

  /// The values of all variables by name, as blocks get them. `scope` has the names of the iterator variables.
  func all(_ scope: [String]) -> [String: Any] {
    var all = named ?? [:]
    for (name, value) in zip(scope, iterators) { all[name] = value.anyValue }
    return all
  }
}

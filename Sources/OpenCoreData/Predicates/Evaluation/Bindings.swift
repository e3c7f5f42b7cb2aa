/// The values of the variables in one evaluation.
struct Bindings {
  /// Those given by name.
  var named: [String: Any]?
  /// Those of the subqueries that are being evaluated, the innermost last.
  var iterators: [PredicateValue] = []

  /// All by name, as blocks are given them.
  func all(_ scope: [String]) -> [String: Any] {
    var all = named ?? [:]
    for (name, value) in zip(scope, iterators) { all[name] = value.anyValue }
    return all
  }
}

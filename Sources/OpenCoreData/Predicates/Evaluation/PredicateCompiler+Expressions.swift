import Foundation

/// A compiled expression.
enum Compiled<Row> {
  /// A value that is the same for all rows.
  case constant(PredicateValue)
  case varying((Row, Bindings) -> PredicateValue)

  /// A closure that returns the value for a row, also if the value is the same for all rows.
  var reader: (Row, Bindings) -> PredicateValue {
    switch self {
    case .constant(let value): { _, _ in value }
    case .varying(let read): read
    }
  }
}

extension PredicateCompiler {
  func compile(_ expression: NSExpression) throws(PredicateCompilationError) -> Compiled<Row> {
    switch expression.form {
    case .constant(let value): return .constant(PredicateValue(value))
    case .evaluatedObject:
      let object = rows.identity ?? rows.object
      return .varying { row, _ in PredicateValue(object(row)) }
    case .variable(let name): return try variable(name)
    case .keyPath(let path): return .varying(try keyPath(path))
    case .path(let path, let operand):
      let path = ValuePath(path)
      return Self.apply({ path.value(in: $0) }, to: try compile(operand))
    case .call(let target, let name, let arguments): return try call(target, name, arguments)
    case .fetch(let request, let context, let isCount): return try fetch(request, context, isCount)
    case .function(let function, let arguments):
      if scope.isEmpty, let aggregate = rows.aggregate, let (function, argument) = expression.aggregation {
        return .varying { [read = try aggregate(function, argument)] row, _ in read(row) }
      }
      return try apply(function, to: arguments)
    case .aggregate(let elements): return try aggregate(elements)
    case .set(let operation, let left, let right):
      return Self.apply({ operation.apply($0, $1) }, to: try compile(left), try compile(right))
    case .subquery(let collection, let variable, let predicate):
      return try subquery(of: collection, variable, predicate)
    case .conditional(let predicate, let yes, let no): return try conditional(predicate, yes, no)
    case .block(let block, let arguments): return try call(block, arguments)
    case .anyKey: throw .unsupported("\(expression)")
    }
  }

  // MARK: Leaves

  private func variable(_ name: String) throws(PredicateCompilationError) -> Compiled<Row> {
    if let index = scope.lastIndex(of: name) { return .varying { _, bindings in bindings.iterators[index] } }
    guard let variables else {
      return .varying { _, bindings in
        guard let value = bindings.named?[name] else { fatalError("the variable $\(name) has no value") }
        return PredicateValue(value)
      }
    }
    guard let value = variables[name] else { throw .unboundVariable(name) }
    return .constant(PredicateValue(value))
  }

  /// Reads the longest beginning of the path that the row reader knows, and the rest from the value at its end.
  private func keyPath(_ text: String) throws(PredicateCompilationError) -> Reader {
    if let read = rows.path?(text) { return { row, _ in read(row) } }
    // Most paths are a single key.
    if text != "self", !text.utf8.contains(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "@") }),
      let read = rows.value(text)
    {
      return { row, _ in read(row) }
    }
    let components = text.split(separator: ".")
    let keys = components.prefix { !$0.hasPrefix("@") }
    guard let first = keys.first, first != "self" else {
      let (object, path) = (rows.identity ?? rows.object, ValuePath(text))
      return { row, _ in path.value(in: PredicateValue(object(row))) }
    }
    if keys.count == 1, components.dropFirst() == ["@count"], let count = rows.count?(String(first)) {
      return { row, _ in count(row) }
    }
    let longest = min(keys.count, RowReader<Row>.longestPath)
    for count in stride(from: longest, to: 0, by: -1) {
      guard let read = rows.value(keys.prefix(count).joined(separator: ".")) else { continue }
      if count == components.count { return { row, _ in read(row) } }
      let rest = ValuePath(components.dropFirst(count).joined(separator: "."))
      return { row, _ in rest.value(in: read(row)) }
    }
    throw .unknownKey(String(first))
  }

  // MARK: Expressions with operands

  private static func apply(
    _ transform: @escaping (PredicateValue) -> PredicateValue, to argument: Compiled<Row>
  ) -> Compiled<Row> {
    if case .constant(let value) = argument, !value.hasChangingParts { return .constant(transform(value)) }
    let read = argument.reader
    return .varying { transform(read($0, $1)) }
  }

  private static func apply(
    _ transform: @escaping (PredicateValue, PredicateValue) -> PredicateValue,
    to left: Compiled<Row>, _ right: Compiled<Row>
  ) -> Compiled<Row> {
    if case .constant(let left) = left, case .constant(let right) = right,
      !left.hasChangingParts, !right.hasChangingParts
    {
      return .constant(transform(left, right))
    }
    let (left, right) = (left.reader, right.reader)
    return .varying { transform(left($0, $1), right($0, $1)) }
  }

  private func apply(
    _ function: Function, to arguments: [NSExpression]
  ) throws(PredicateCompilationError) -> Compiled<Row> {
    switch function.implementation {
    case .fresh(let make): .varying { _, _ in make() }
    case .freshUnary(let make):
      .varying({ [argument = try compile(arguments[0]).reader] in make(argument($0, $1)) })
    case .unary(let transform): Self.apply(transform, to: try compile(arguments[0]))
    case .binary(let transform): Self.apply(transform, to: try compile(arguments[0]), try compile(arguments[1]))
    case .aggregate(let aggregate):
      Self.apply({ $0.elements.map(aggregate.result(of:)) ?? .null }, to: try compile(arguments[0]))
    }
  }

  private func aggregate(_ elements: [NSExpression]) throws(PredicateCompilationError) -> Compiled<Row> {
    var readers: [Reader] = []
    var constants: [PredicateValue] = []
    for element in elements {
      let compiled = try compile(element)
      if case .constant(let value) = compiled { constants.append(value) }
      readers.append(compiled.reader)
    }
    if constants.count == elements.count { return .constant(.collection(constants, ordered: true)) }
    return .varying { [readers] row, bindings in .collection(readers.map { $0(row, bindings) }, ordered: true) }
  }

  private func subquery(
    of collection: NSExpression, _ variable: String, _ predicate: NSPredicate
  ) throws(PredicateCompilationError) -> Compiled<Row> {
    let collection = try compile(collection).reader
    var inner = self
    inner.scope.append(variable)
    let test = try inner.compile(predicate)
    return .varying { row, bindings in
      guard case .collection(let elements, let ordered) = collection(row, bindings) else {
        return .collection([], ordered: false)
      }
      var inner = bindings
      inner.iterators.append(.null)
      let found = elements.filter { element in
        inner.iterators[inner.iterators.count - 1] = element
        return test(row, inner)
      }
      return .collection(found, ordered: ordered)
    }
  }

  private func conditional(
    _ predicate: NSPredicate, _ yes: NSExpression, _ no: NSExpression
  ) throws(PredicateCompilationError) -> Compiled<Row> {
    let test = try compile(predicate)
    let (yes, no) = (try compile(yes).reader, try compile(no).reader)
    return .varying { test($0, $1) ? yes($0, $1) : no($0, $1) }
  }

  private func call(
    _ block: @escaping NSExpression.Block, _ arguments: [NSExpression]
  ) throws(PredicateCompilationError) -> Compiled<Row> {
    var readers: [Reader] = []
    for argument in arguments { readers.append(try compile(argument).reader) }
    let (object, scope) = (rows.object, scope)
    return .varying { [readers] row, bindings in
      let values = readers.map { $0(row, bindings).anyValue ?? NSNull() }
      return PredicateValue(block(object(row), values, NSMutableDictionary(dictionary: bindings.all(scope))))
    }
  }
}

extension PredicateCompiler {
  private func call(
    _ target: NSExpression, _ name: String, _ arguments: [NSExpression]
  ) throws(PredicateCompilationError) -> Compiled<Row> {
    let target = try compile(target).reader
    var readers: [Reader] = []
    for argument in arguments { readers.append(try compile(argument).reader) }
    return .varying { [readers] row, bindings in
      let object = target(row, bindings).anyValue
      guard let called = object as? any FunctionTarget else {
        fatalError("\(name) cannot be called of \(object ?? "nil"), which is no FunctionTarget")
      }
      return PredicateValue(called.callFunction(name, arguments: readers.map { $0(row, bindings).anyValue }))
    }
  }

  private func fetch(
    _ request: NSExpression, _ context: NSExpression, _ isCount: Bool
  ) throws(PredicateCompilationError) -> Compiled<Row> {
    let (request, context) = (try compile(request).reader, try compile(context).reader)
    return .varying { row, bindings in
      NSFetchRequestExpression.result(
        of: request(row, bindings).anyValue, in: context(row, bindings).anyValue, isCount: isCount)
    }
  }
}

extension SetOperation {
  /// The result of the operation on two collections; null for anything else.
  func apply(_ left: PredicateValue, _ right: PredicateValue) -> PredicateValue {
    guard let left = left.elements, let right = right.elements else { return .null }
    let others = Set(right)
    let result =
      switch self {
      case .union: left + right
      case .intersect: left.filter(others.contains)
      case .minus: left.filter { !others.contains($0) }
      }
    return .collection(result.distinct, ordered: false)
  }
}

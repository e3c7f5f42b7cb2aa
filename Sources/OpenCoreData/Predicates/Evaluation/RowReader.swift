import Foundation

/// How rows of one kind are read: what ``CompiledPredicate``, ``CompiledExpression`` and ``CompiledSort`` need to know of them.
///
/// A store that holds values in slots looks up the slot of a key once, and returns what reads that slot:
///
///     RowReader<Row>(object: { context.object(with: $0.id) }) { key in
///       guard let slot = slots[key] else { return nil }
///       return { row in row.values[slot] }
///     }
public struct RowReader<Row> {
  /// Makes the object that `SELF` is and that blocks are given.
  let object: (Row) -> Any?
  /// What `SELF` is compared and asked as, where the object is only for blocks; nil if that is the object, too.
  package var identity: ((Row) -> Any?)?
  /// Finds what reads the value of a key path.
  let value: (String) -> ((Row) -> PredicateValue)?
  /// Finds what reads the value of a key path whole, with the operators in it; asked before all else.
  var path: ((String) -> (Row) -> PredicateValue)?
  /// Finds what reads the values that an expression has for all rows of a group; nil if the rows are no groups.
  var collect: ((NSExpression) throws(PredicateCompilationError) -> (Row) -> PredicateValue)?

  /// The most keys of a path that `value` is asked for at once; all beginnings of a path without end would take time without end.
  static var longestPath: Int { 32 }

  /// A reader of rows.
  ///
  /// - Parameters:
  ///   - object: Makes the object of a row; called only for predicates that mention `SELF` or call blocks.
  ///   - value: Finds what reads the value of a key path, or returns nil if it is unknown. It is asked once for each key path, before any
  ///     row is read: first for the whole, or its first 32 keys, then for ever shorter beginnings, so that a store may answer
  ///     `department.name` at once, or only `department`, whose `name` is then asked of the value by ``KeyValueCoding``.
  public init(object: @escaping (Row) -> Any?, value: @escaping (String) -> ((Row) -> PredicateValue)?) {
    self.object = object
    self.value = value
  }
}

extension RowReader where Row: KeyValueCoding {
  /// Reads objects of one type by their keys.
  public static var keyed: RowReader {
    RowReader { object in
      object
    } value: { key in
      key.contains(".") ? nil : { object in object.predicateValue(forKey: key) }
    }
  }
}

extension RowReader<NSDictionary> {
  /// Reads what a fetch returns, where a key path may be the key of a column.
  static var columns: RowReader {
    var reader = keyed
    reader.path = { path in
      let rest = ValuePath(path)
      return { row in row[path].map { PredicateValue($0) } ?? rest.value(of: row) }
    }
    return reader
  }
}

extension RowReader<Any?> {
  /// Reads objects of any type by their keys; what does not answer to ``KeyValueCoding`` is null for every key.
  public static var objects: RowReader {
    RowReader { object in
      object
    } value: { key in
      key.contains(".")
        ? nil
        : { object in
          object.flatMap(keyValues)?.predicateValue(forKey: key) ?? PredicateValue(object).value(forKey: key)
        }
    }
  }
}

import Foundation

/// Reads rows of one kind for ``CompiledPredicate``, ``CompiledExpression`` and ``CompiledSort``.
///
/// A store that holds values in slots looks up the slot of a key once, and returns a closure that reads that slot:
///
///     RowReader<Row>(object: { context.object(with: $0.id) }) { key in
///       guard let slot = slots[key] else { return nil }
///       return { row in row.values[slot] }
///     }
public struct RowReader<Row> {
  typealias Value = (Row) -> PredicateValue

  /// Makes the object that `SELF` stands for and that blocks get.
  let object: (Row) -> Any?
  /// Returns the value that `SELF` stands for, if the object is only for blocks; nil if the object serves for both.
  package var identity: ((Row) -> Any?)?
  /// Returns a closure that reads the value of a key path; nil if the key path is unknown.
  let value: (String) -> ((Row) -> PredicateValue)?
  /// Returns a closure that counts the members of a collection without reading them; nil if the key is of no collection.
  package var count: ((String) -> ((Row) -> PredicateValue)?)?
  /// Returns a closure that compares the value of a key, or `self`, with a constant, without options, where it lies,
  /// and that returns nil for rows whose value must be read; nil if all values must.
  package var test:
    ((_ key: String, _ type: NSComparisonPredicate.Operator, _ constant: PredicateValue) -> ((Row) -> Bool?)?)?
  /// Returns a closure that reads the value of a whole key path with its operators; if set, it is called instead of
  /// `value`.
  var path: ((String) -> (Row) -> PredicateValue)?
  /// Takes note of a call of an aggregate function, and returns a closure that reads its result for a group; nil if
  /// rows are not groups.
  var aggregate: ((any Aggregate, _ argument: NSExpression) throws(PredicateCompilationError) -> Value)?

  /// The greatest number of keys with which `value` is called. It limits the time for trying the beginnings of a long
  /// path.
  static var longestPath: Int { 32 }

  /// A reader of rows.
  ///
  /// - Parameters:
  ///   - object: Makes the object of a row. Called only where an object is needed: for `SELF`, for blocks, and for
  ///     predicates and sort descriptors that are not Core Data's.
  ///   - value: Returns a closure that reads the value of a key path; nil if the key path is unknown. It is called for
  ///     each key path before any row is read: first with the whole path, or its first 32 keys, then with shorter and
  ///     shorter beginnings. So a store may know `department.name` as a whole, or only `department`, from whose value
  ///     `name` is then read through ``KeyValueCoding``.
  public init(object: @escaping (Row) -> Any?, value: @escaping (String) -> ((Row) -> PredicateValue)?) {
    self.object = object
    self.value = value
  }
}

extension RowReader where Row: KeyValueCoding {
  /// Reads objects of one type by their keys.
  public static var keyed: RowReader {
    var reader = RowReader { object in
      object
    } value: { key in
      key.utf8.contains(UInt8(ascii: ".")) ? nil : { object in object.predicateValue(forKey: key) }
    }
    reader.count = { key in
      let path = ValuePath("\(key).@count")
      return { object in path.value(of: object) }
    }
    return reader
  }
}

extension RowReader<NSDictionary> {
  /// Reads the dictionaries that a fetch returns. A whole key path may be the key of a column.
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
  /// Reads objects of any type by their keys: through ``KeyValueCoding``, or else by the keys that values have, such as
  /// `length`. Any other key is null.
  public static var objects: RowReader {
    var reader = RowReader { object in
      object
    } value: { key in
      key.utf8.contains(UInt8(ascii: "."))
        ? nil
        : { object in
          object.flatMap(keyValues)?.predicateValue(forKey: key) ?? PredicateValue(object).value(forKey: key)
        }
    }
    reader.count = { key in
      let path = ValuePath("\(key).@count")
      return { object in object.map(path.value(of:)) ?? path.value(in: .null) }
    }
    return reader
  }
}

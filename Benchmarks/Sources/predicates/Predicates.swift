import OpenCoreData

/// Measures the time that a compiled predicate takes for a row: rows of a store, with values in slots, and objects and
/// dictionaries, which are read by key.
@main
struct Predicates {
  /// The form into which a store decodes a row.
  struct Row {
    let values: [PredicateValue]
  }

  /// An object that reads its values as a managed object does.
  final class Object: KeyValueCoding {
    let values: [String: Any]

    init(_ values: [String: Any]) { self.values = values }

    func value(forKey key: String) -> Any? { values[key] }
  }

  static let formats = [
    "age > 30",
    "age > 30 AND name == 'name 7'",
    "age < limit AND name == alias",
    "age < limit AND score >= 0.5 AND name != nil",
    "name BEGINSWITH 'name 7'",
    "name CONTAINS[cd] 'ME 77'",
    "name LIKE 'n*7?'",
    "name MATCHES 'n.*7.'",
    "number IN $numbers",
    "age + 1 > limit * 2",
    "ANY tags == 7",
    "SUBQUERY(tags, $t, $t > 5).@count > 1",
  ]

  static let rounds = 21

  static func main() throws {
    let dictionaries = (0..<20_000).map(row)
    let objects = dictionaries.map(Object.init)
    let keys = Array(dictionaries[0].keys)
    let rows = dictionaries.map { row in Row(values: keys.map { PredicateValue(row[$0]) }) }
    let slots = Dictionary(uniqueKeysWithValues: zip(keys, keys.indices))
    let slotReader = RowReader<Row>(object: { _ in nil }) { key in
      slots[key].map { slot in { row in row.values[slot] } }
    }
    print("ns a row: median, least and most of \(rounds) rounds over \(rows.count) rows\n")
    print("rows in slots           objects                 dictionaries            matches  predicate")
    for format in formats {
      let predicate = NSPredicate(format: format)
      let variables = ["numbers": Array(0..<1000)]
      let bySlot = try CompiledPredicate(predicate, variables: variables, reading: slotReader)
      let byKey = try CompiledPredicate(predicate, variables: variables, reading: RowReader<Object>.keyed)
      let byAnyKey = try CompiledPredicate(predicate, variables: variables, reading: .objects)
      let (ofRows, matches) = measure(rows, bySlot.matches)
      let (ofObjects, objectMatches) = measure(objects, byKey.matches)
      let (ofDictionaries, dictionaryMatches) = measure(dictionaries, byAnyKey.matches)
      precondition(matches == objectMatches && matches == dictionaryMatches)
      print("\(ofRows)\(ofObjects)\(ofDictionaries)\(String(matches).padded(7))  \(format)")
    }
  }

  static func row(_ number: Int) -> [String: Any] {
    let mixed = number &* 0x9E37_79B9 >> 7
    return [
      "number": number, "age": mixed % 90, "limit": mixed / 90 % 90, "name": "name \(mixed % 997)",
      "alias": "name \(mixed % 499)", "score": Double(mixed % 1000) / 1000, "tags": [mixed % 10, mixed / 10 % 10, 3],
    ]
  }

  /// The median, least and greatest time per row in nanoseconds, as text, and how many rows matched.
  static func measure<Element>(_ rows: [Element], _ matches: (Element) -> Bool) -> (String, Int) {
    let clock = ContinuousClock()
    var count = 0
    let times = (0..<rounds).map { _ in
      let time = clock.measure { count = rows.count { matches($0) } }
      return time / .nanoseconds(1) / Double(rows.count)
    }.sorted()
    let shown = [times[rounds / 2], times[0], times[rounds - 1]].map { String(Int($0.rounded())).padded(6) }
    return (shown.joined() + "      ", count)
  }
}

extension String {
  fileprivate func padded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}

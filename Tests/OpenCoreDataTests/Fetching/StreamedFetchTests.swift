import Foundation
import Testing

@testable import OpenCoreData

/// Dictionaries made of rows that come one by one, in one object that is used again for each row.
@Suite struct StreamedFetchTests {
  private let staff = Staff()

  /// The dictionaries of a fetch, and the number of rows that were copied for it.
  private func stream(
    _ rows: [StoredRow], _ change: (NSFetchRequest<NSDictionary>) -> Void
  ) throws -> (dictionaries: [NSDictionary], copies: Int, offered: Int) {
    let fetch = try CompiledFetch(staff.request(change), of: staff.employee, reading: RowReader<ReusedRow>.keyed)
    var collector = FetchCollector(fetch)
    let probe = ReusedRow()
    var (copies, offered) = (0, 0)
    for row in rows {
      (probe.id, probe.values) = (row.id, row.values)
      offered += 1
      let goesOn = collector.offer(probe) { row in
        copies += 1
        return row.copied()
      }
      guard goesOn else { break }
    }
    (probe.id, probe.values) = (ItemID(-1), [:])
    return (collector.dictionaries, copies, offered)
  }

  private func employees(_ count: Int) -> [StoredRow] {
    (0..<count).map { StoredRow($0, ["name": "\($0 % 3)", "age": $0, "salary": Double($0 % 4)]) }
  }

  // MARK: Rows that are kept

  @Test("A fetch keeps one row of each group, and computes aggregates as the rows come.")
  func groups() throws {
    let found = try stream(employees(3000)) {
      $0.propertiesToFetch = ["name", column("number", "count(SELF)"), column("sum", "sum(age)")]
      $0.propertiesToGroupBy = ["name"]
    }
    #expect(found.copies == 3)
    #expect(found.dictionaries.map { $0["number"] as? Int } == [1000, 1000, 1000])
    #expect(found.dictionaries.map { $0["sum"] as? Int } == [1_498_500, 1_499_500, 1_500_500])
    #expect(
      try stream(employees(3000)) { $0.propertiesToFetch = [column("oldest", "max(age)")] }.dictionaries
        == [["oldest": 2999]])
  }

  @Test("A fetch of distinct dictionaries keeps one row of each, and ends once it has as many as its limit allows.")
  func distinct() throws {
    let all = try stream(employees(3000)) { ($0.propertiesToFetch, $0.returnsDistinctResults) = (["name"], true) }
    #expect(all.dictionaries == [["name": "0"], ["name": "1"], ["name": "2"]] && all.copies == 3)
    let limited = try stream(employees(3000)) {
      ($0.propertiesToFetch, $0.returnsDistinctResults) = (["name"], true)
      ($0.fetchOffset, $0.fetchLimit) = (1, 1)
    }
    #expect(limited.dictionaries == [["name": "1"]] && limited.offered == 2)
  }

  @Test("A fetch of dictionaries with a limit keeps no more rows than one of objects.")
  func window() throws {
    let unsorted = try stream(employees(3000)) {
      ($0.propertiesToFetch, $0.fetchOffset, $0.fetchLimit) = (["age"], 10, 2)
    }
    #expect(unsorted.dictionaries == [["age": 10], ["age": 11]] && unsorted.copies == 2 && unsorted.offered == 12)
    let sorted = try stream(employees(30_000)) {
      ($0.propertiesToFetch, $0.fetchLimit) = (["age"], 2)
      $0.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
    }
    #expect(sorted.dictionaries == [["age": 0], ["age": 1]] && sorted.copies == 1024)
  }

  @Test("Objects by which rows are grouped, and objects among aggregated values, are those of their own rows.")
  func objects() throws {
    let own = column("own", "SELF")
    let each = try stream(staff.employees) { ($0.propertiesToFetch, $0.propertiesToGroupBy) = ([own], [own]) }
    #expect(each.dictionaries == staff.employees.map { ["own": $0.id] as NSDictionary })
    let modes = try stream(staff.employees) {
      $0.propertiesToFetch = [column("rows", "mode(SELF).name"), column("bosses", "mode(boss)")]
    }
    #expect(modes.dictionaries[0]["rows"] as? [String] == ["Ada", "Bob", "Cleo", "dán"])
    #expect(modes.dictionaries[0]["bosses"] as? [StoredRow] == [staff.ada])
  }

  // MARK: Random requests

  @Test("Dictionaries of rows that come one by one equal those that are made of all rows at once.")
  func random() throws {
    var random = SeededGenerator(seed: chooseSeed())
    for _ in 0..<1000 {
      let people = (0..<Int.random(in: 0..<20, using: &random)).map { Person($0, staff, &random) }
      let request = RandomRequest(&random)
      let found = try stream(people.map(\.row), request.set)
      #expect(found.dictionaries == request.expected(people), "\(request) of \(people)")
    }
  }
}

/// A row that is used again for the next one.
private final class ReusedRow: NSObject, KeyValueCoding, Identified {
  var id = ItemID(-1)
  var values: [String: Any] = [:]

  var predicateIdentity: AnyHashable { id }

  func value(forKey key: String) -> Any? { values[key] }

  func copied() -> ReusedRow {
    let copy = ReusedRow()
    (copy.id, copy.values) = (id, values)
    return copy
  }
}

private struct Person: CustomStringConvertible {
  let row: StoredRow
  let values: [String: AnyHashable]

  var description: String { "\(values)" }

  init(_ number: Int, _ staff: Staff, _ random: inout SeededGenerator) {
    var values: [String: AnyHashable] = [:]
    values["name"] = ["a", "b", "c", nil].randomElement(using: &random)!
    values["age"] = [1, 2, 3, 4, 5, nil].randomElement(using: &random)!
    values["salary"] = [0.5, 1.5, 8, nil].randomElement(using: &random)!
    let boss = [staff.ada, staff.bob, nil].randomElement(using: &random)!
    var stored: [String: Any] = values
    stored["boss"] = boss
    values["boss"] = boss?.id
    row = StoredRow(number, stored)
    self.values = values
  }
}

/// A request for dictionaries, and what it must return.
private struct RandomRequest {
  private let columns: [String]
  /// Nil if rows are not grouped.
  private let keys: [String]?
  private let aggregates: [String]
  private let leastAge: Int?
  private let least: Int?
  private let sort: (key: String, ascending: Bool)?
  private let isDistinct: Bool
  private let offset: Int
  private let limit: Int

  static let properties = ["name", "age", "salary", "boss"]
  static let functions = ["count", "sum", "min", "max", "average", "median", "stddev"]

  init(_ random: inout SeededGenerator) {
    let some = Self.properties.shuffled(using: &random).prefix(.random(in: 1...3, using: &random))
    let isGrouped = Bool.random(using: &random)
    keys = isGrouped ? Array(some.dropFirst(Bool.random(using: &random) ? 0 : 1)) : nil
    columns = keys ?? Array(some)
    let aggregates = Self.functions.shuffled(using: &random).prefix(.random(in: 1...4, using: &random))
    self.aggregates = isGrouped ? Array(aggregates) : []
    leastAge = Bool.random(using: &random) ? .random(in: 1...4, using: &random) : nil
    least = keys?.isEmpty == false && Bool.random(using: &random) ? .random(in: 1...3, using: &random) : nil
    let sorted = (keys ?? Self.properties).filter { $0 != "boss" }.randomElement(using: &random)
    sort = Bool.random(using: &random) ? sorted.map { ($0, Bool.random(using: &random)) } : nil
    isDistinct = .random(using: &random)
    offset = Bool.random(using: &random) ? 0 : .random(in: 0...3, using: &random)
    limit = Bool.random(using: &random) ? 0 : .random(in: 1...4, using: &random)
  }

  func set(_ request: NSFetchRequest<NSDictionary>) {
    request.propertiesToFetch = columns + aggregates.map { column($0, "\($0)(age)") } as [Any]
    request.propertiesToGroupBy = keys
    request.predicate = leastAge.map { NSPredicate(format: "age >= %ld", $0) }
    request.havingPredicate = least.map { NSPredicate(format: "count(age) >= %ld", $0) }
    request.sortDescriptors = sort.map { [NSSortDescriptor(key: $0.key, ascending: $0.ascending)] }
    request.returnsDistinctResults = isDistinct
    (request.fetchOffset, request.fetchLimit) = (offset, limit)
  }

  func expected(_ people: [Person]) -> [NSDictionary] {
    let rows = people.map(\.values).filter { row in leastAge.map { (row["age"] as? Int ?? 0) >= $0 } ?? true }
    var groups = grouped(rows).filter { group in least.map { ages(group).count >= $0 } ?? true }
    if let sort, keys?.isEmpty != true {
      let ordered = groups.enumerated().sorted { left, right in
        let (one, other) = (left.element[0][sort.key], right.element[0][sort.key])
        if one == other { return left.offset < right.offset }
        return sort.ascending ? precedes(one, other) : precedes(other, one)
      }
      groups = ordered.map(\.element)
    }
    var results = groups.map(dictionary)
    if isDistinct {
      results = results.enumerated().filter { place, each in !results.prefix(place).contains(each) }.map(\.element)
    }
    let rest = results.dropFirst(offset)
    return Array(limit > 0 ? rest.prefix(limit) : rest)
  }

  private func grouped(_ rows: [[String: AnyHashable]]) -> [[[String: AnyHashable]]] {
    guard let keys else { return rows.map { [$0] } }
    guard !keys.isEmpty else { return [rows] }
    var groups: [[[String: AnyHashable]]] = []
    for row in rows {
      let place = groups.firstIndex { group in keys.allSatisfy { group[0][$0] == row[$0] } }
      if let place { groups[place].append(row) } else { groups.append([row]) }
    }
    return groups
  }

  /// Nil comes first.
  private func precedes(_ one: AnyHashable?, _ other: AnyHashable?) -> Bool {
    guard let one, let other else { return one == nil }
    if let one = one as? String, let other = other as? String { return one < other }
    return (one as? NSNumber)?.compare(other as? NSNumber ?? 0) == .orderedAscending
  }

  private func ages(_ group: [[String: AnyHashable]]) -> [Double] {
    group.compactMap { ($0["age"] as? Int).map(Double.init) }
  }

  private func dictionary(_ group: [[String: AnyHashable]]) -> NSDictionary {
    var dictionary: [String: AnyHashable] = [:]
    for key in columns { dictionary[key] = group.first?[key] }
    let ages = ages(group)
    for name in aggregates { dictionary[name] = value(name, ages) }
    return NSDictionary(dictionary: dictionary)
  }

  private func value(_ function: String, _ ages: [Double]) -> Double? {
    let count = Double(ages.count)
    let sum = ages.reduce(0, +)
    switch function {
    case "count": return count
    case "sum": return sum
    case "min": return ages.min()
    case "max": return ages.max()
    case "average": return ages.isEmpty ? nil : sum / count
    case "median":
      let ages = ages.sorted()
      return ages.isEmpty ? nil : (ages[(ages.count - 1) / 2] + ages[ages.count / 2]) / 2
    default:
      let squares = ages.map { ($0 - sum / count) * ($0 - sum / count) }
      return ages.isEmpty ? nil : (squares.reduce(0, +) / count).squareRoot()
    }
  }
}

import OpenCoreData
import Testing

@Suite struct SortTests {
  private func inOrder<Row>(_ rows: [Row], by descriptors: NSSortDescriptor...) throws -> [Row] {
    try CompiledSort(descriptors, reading: .objects).sorted(rows).compactMap { $0 as? Row }
  }

  private func sorted(_ values: [Any], selector: Selector? = nil, ascending: Bool = true) throws -> [String] {
    let rows = values.map { ["v": $0] as [String: Any] }
    let descriptor = NSSortDescriptor(key: "v", ascending: ascending, selector: selector)
    let compiled = try inOrder(rows, by: descriptor).map { "\($0["v"] ?? "")" }
    let plain = (rows as NSArray).sortedArray(using: [descriptor]).map { "\(($0 as? [String: Any])?["v"] ?? "")" }
    #expect(compiled == plain)
    return compiled
  }

  @Test("Null comes first in ascending order and last in descending order.")
  func null() throws {
    #expect(try sorted([2, NSNull(), 1.5, Decimal(1)]) == ["<null>", "1", "1.5", "2"])
    #expect(try sorted([2, NSNull(), 1], ascending: false) == ["2", "1", "<null>"])
  }

  @Test("Strings are sorted as the selector says.")
  func selectors() throws {
    let names = ["b", "A", "a10", "a9", "B"]
    #expect(try sorted(names) == ["A", "B", "a10", "a9", "b"])
    #expect(try sorted(names, selector: "compare:") == ["A", "B", "a10", "a9", "b"])
    #expect(try sorted(names, selector: Selector("caseInsensitiveCompare:")) == ["A", "a10", "a9", "b", "B"])
    #expect(
      try sorted(["é", "f", "E"], selector: NSSelectorFromString("localizedCaseInsensitiveCompare:")) == [
        "E", "é", "f",
      ])
    #expect(try sorted(["é", "f", "e"], selector: "localizedCompare:") == ["e", "é", "f"])
    #expect(try sorted(["a10", "b1", "a9"], selector: "localizedStandardCompare:") == ["a9", "a10", "b1"])
  }

  @Test("Values of different kinds have an order.")
  func kinds() throws {
    let values: [Any] = ["x", 1, Double.nan, NSNull(), Date(timeIntervalSinceReferenceDate: 0), [1], 2, UUID()]
    let ordered = try sorted(values)
    #expect(try sorted(values.reversed()) == ordered)
    #expect(ordered.prefix(5) == ["<null>", "nan", "1", "2", "x"])
  }

  @Test("Dates that are not a number come before all others.")
  func dates() throws {
    let dates = [5, .nan, 0, -.infinity, .nan].map { Date(timeIntervalSinceReferenceDate: $0) }
    let ordered = try inOrder(dates + ["x"] as [Any], by: NSSortDescriptor(key: nil, ascending: true))
    #expect(ordered.first as? String == "x")
    let times = ordered.compactMap { ($0 as? Date)?.timeIntervalSinceReferenceDate }
    #expect(times.prefix(2).allSatisfy(\.isNaN) && times.dropFirst(2) == [-.infinity, 0, 5])
  }

  @Test("Later sort descriptors decide where earlier ones do not, and equal rows keep their order.")
  func several() throws {
    let rows = [(1, "b", 0), (2, "a", 1), (1, "a", 2), (1, "a", 3)].map {
      ["n": $0.0, "s": $0.1, "id": $0.2] as [String: Any]
    }
    let descriptors = [NSSortDescriptor(key: "n", ascending: false), NSSortDescriptor(key: "s", ascending: true)]
    let sort = try CompiledSort(descriptors, reading: .objects)
    #expect(try inOrder(rows, by: descriptors[0], descriptors[1]).map { $0["id"] as? Int } == [1, 2, 3, 0])
    #expect(sort.order(rows[0], rows[1]) == .orderedDescending)
    #expect(sort.order(rows[2], rows[3]) == .orderedSame)
  }

  @Test("Sort keys may be paths to related objects.")
  func relatedKeys() throws {
    let rows = ["b", "a"].map { ["owner": ["name": $0]] } + [["owner": [:]]]
    let byName = NSSortDescriptor(key: "owner.name", ascending: true)
    #expect(try inOrder(rows, by: byName).map { $0["owner"]?["name"] } == [nil, "a", "b"])
  }

  @Test("A descriptor without a key sorts the objects themselves.")
  func noKey() throws {
    let descriptor = NSSortDescriptor(key: nil, ascending: false)
    #expect(try inOrder([1, 3, 2], by: descriptor) == [3, 2, 1])
    #expect(descriptor.compare(1, to: 2) == .orderedDescending)
  }

  @Test("A block may compare in a sort descriptor.")
  func block() throws {
    let byLength = NSSortDescriptor(key: "v", ascending: true) { left, right in
      NSNumber(value: (left as? String)?.count ?? -1).compare(NSNumber(value: (right as? String)?.count ?? -1))
    }
    let rows = ["ccc", "a", "bb"].map { ["v": $0] } + [[:]]
    #expect(try inOrder(rows, by: byLength).map { $0["v"] } == [nil, "a", "bb", "ccc"])
    #expect(byLength.selector == nil)
  }

  @Test("Descriptors with a Swift key path sort the objects of rows.")
  func swiftKeyPath() throws {
    let reader = RowReader<Int>(object: { String(repeating: "x", count: $0) }) { _ in nil }
    let sort = try CompiledSort([NSSortDescriptor(keyPath: \String.count, ascending: false)], reading: reader)
    #expect(sort.sorted([1, 3, 2]) == [3, 2, 1])
  }

  @Test("Descriptors show their parts, can be reversed, and compare objects.")
  func parts() throws {
    let descriptor = NSSortDescriptor(key: "a.b", ascending: true, selector: "localizedCompare:")
    #expect(descriptor.key == "a.b")
    #expect(descriptor.ascending)
    #expect(descriptor.selector == "localizedCompare:")
    #expect(NSSortDescriptor(key: "a", ascending: true).selector == "compare:")
    let reversed = try #require(descriptor.reversedSortDescriptor as? NSSortDescriptor)
    #expect(reversed == NSSortDescriptor(key: "a.b", ascending: false, selector: "localizedCompare:"))
    #expect(reversed != descriptor)
    #expect(descriptor.copy() as? NSSortDescriptor === descriptor)
    #expect(NSSortDescriptor(key: "a", ascending: true).comparator(1, 2) == .orderedAscending)
  }

  @Test("Sorting by an unsupported selector ends the program.")
  func unknownSelector() async {
    await #expect(processExitsWith: .failure) { _ = NSSortDescriptor(key: "a", ascending: true, selector: "length") }
  }
}

import Foundation
import RemoteHTTP
import RemoteIncrementalStore
import Testing

struct FilterTests {
  private func query(
    _ predicate: RemotePredicate, _ filters: [String: HTTPFilter], dates: HTTPDescription.Dates = .iso8601
  ) throws -> RemoteQuery {
    let service = HTTPService(
      bugs(at: URL(string: "https://example.com")!) {
        ($0["Bug"].filters, $0["Bug"].hasExhaustiveLists, $0.dates) = (filters, true, dates)
      })
    return try #require(service.query(for: RemoteFetch("Bug", predicate: predicate)))
  }

  private let votes = HTTPFilter(greater: "gt", greaterOrEqual: "gte", less: "lt", lessOrEqual: "lte")

  @Test func comparisonsBecomeParameters() throws {
    for (comparison, name) in [
      (RemotePredicate.Comparison.greater, "gt"), (.greaterOrEqual, "gte"), (.less, "lt"), (.lessOrEqual, "lte"),
    ] {
      let query = try query(.comparison("votes", comparison, .integer(3)), ["votes": votes])
      #expect(query.parameters == [name: "3"] && query.served == .all && query.isExhaustive)
    }
    let range = try query(.between("votes", .integer(-1), .double(2.5)), ["votes": votes])
    #expect(range.parameters == ["gte": "-1", "lte": "2.5"] && range.served == .all)
    for value in [RemoteValue.null, .bool(true), .double(.infinity), .double(.nan), .object(bug17)] {
      let query = try query(.comparison("votes", .less, value), ["votes": votes])
      #expect(query.parameters.isEmpty && query.served == .order, "\(value)")
    }
  }

  @Test func aWiderComparisonIsBetterThanNone() throws {
    let filter = ["votes": HTTPFilter(greaterOrEqual: "min", lessOrEqual: "max")]
    let query = try query(
      .and([.comparison("votes", .greater, .integer(3)), .comparison("votes", .less, .integer(9))]), filter)
    #expect(query.parameters == ["min": "3", "max": "9"])
    #expect(query.served == .order && !query.isExhaustive)
    let narrower = ["votes": HTTPFilter(greater: "gt", less: "lt")]
    #expect(try self.query(.between("votes", .integer(1), .integer(2)), narrower).parameters.isEmpty)
    let half = try self.query(.between("votes", .integer(1), .integer(2)), ["votes": HTTPFilter(lessOrEqual: "max")])
    #expect(half.parameters == ["max": "2"] && half.served == .order)
  }

  @Test func twoBoundsOfAParameterAreTooMany() throws {
    let query = try query(
      .and([.comparison("votes", .less, .integer(3)), .comparison("votes", .less, .integer(2))]), ["votes": votes])
    #expect(query.parameters == ["lt": "3"] && query.served == .order)
  }

  @Test(arguments: [
    (1000.0, "1970-01-01T00:16:40Z", "1970-01-01T00:16:40Z", true),
    (1000.25, "1970-01-01T00:16:40.250Z", "1970-01-01T00:16:40.250Z", true),
    (1000.2503, "1970-01-01T00:16:40.250Z", "1970-01-01T00:16:40.251Z", false),
    (-0.0003, "1969-12-31T23:59:59.999Z", "1970-01-01T00:00:00Z", false),
  ]) func aDateThatTextsCannotSayMakesTheRangeLarger(
    seconds: Double, lower: String, upper: String, isExact: Bool
  ) throws {
    let date = RemoteValue.date(Date(timeIntervalSince1970: seconds))
    let query = try query(.between("votes", date, date), ["votes": votes])
    #expect(query.parameters == ["gte": lower, "lte": upper])
    #expect(query.served.contains(.predicate) == isExact)
    let strict = try self.query(.comparison("votes", .greater, date), ["votes": votes])
    #expect(strict.parameters == ["gt": lower])
    #expect(strict.served.contains(.predicate) == isExact)
    let number = try self.query(.comparison("votes", .greater, date), ["votes": votes], dates: .seconds)
    #expect(try abs(#require(number.parameters["gt"].flatMap(Double.init)) - seconds) < 1e-6)
  }

  @Test func aBoundThatIsMovedStaysOutside() throws {
    for _ in 0..<1000 {
      let date = Date(timeIntervalSince1970: .random(in: -1e10...1e10))
      let query = try query(.between("votes", .date(date), .date(date)), ["votes": votes])
      let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
      let lower = try Date(#require(query.parameters["gte"]), strategy: style)
      let upper = try Date(#require(query.parameters["lte"]), strategy: style)
      #expect(
        lower <= date && date <= upper && upper.timeIntervalSince(lower) < 0.0015, "\(date.timeIntervalSince1970)")
    }
  }

  @Test func oneOfSeveralValues() throws {
    let filters = ["isOpen": HTTPFilter("open", oneOf: "open"), "title": HTTPFilter(oneOf: "titles")]
    func parameters(_ keyPath: String, _ values: [RemoteValue]) throws -> [String: String]? {
      let query = try query(.isIn(keyPath, values), filters)
      #expect(query.served == (query.parameters.isEmpty ? .order : .all))
      return query.parameters.isEmpty ? nil : query.parameters
    }
    #expect(try parameters("title", [.string("b"), .string("a"), .string("b")]) == ["titles": "a,b"])
    #expect(try parameters("title", [.string("a")]) == ["titles": "a"])
    #expect(try parameters("isOpen", [.bool(true)]) == ["open": "true"])
    #expect(try parameters("isOpen", [.bool(true), .bool(false)]) == ["open": "false,true"])
    #expect(try parameters("title", []) == nil)
    #expect(try parameters("title", [.string("a,b"), .string("c")]) == nil)
    #expect(try parameters("title", [.string("a"), .string("")]) == nil)
    #expect(try parameters("title", [.string("a"), .null]) == nil)
    #expect(try parameters("title", (0..<1000).map { .string("title \($0)") }) == nil)
    #expect(try parameters("votes", [.integer(1)]) == nil)
  }

  @Test func theAbsenceOfAValue() throws {
    let filters = [
      "reporter": HTTPFilter(
        "user", noValue: HTTPParameter("user", "none"), anyValue: HTTPParameter("user", "*")),
      "title": "title",
    ]
    let (none, some) = (RemotePredicate.Comparison.equal, RemotePredicate.Comparison.notEqual)
    let without = try query(.comparison("reporter", none, .null), filters)
    #expect(without.parameters == ["user": "none"] && without.served == .all)
    let with = try query(.comparison("reporter", some, .null), filters)
    #expect(with.parameters == ["user": "*"] && with.served == .all)
    for comparison in [none, some] {
      let query = try query(.comparison("title", comparison, .null), filters)
      #expect(query.parameters.isEmpty && query.served == .order)
    }
    #expect(try query(.comparison("title", some, .string("a")), filters).parameters.isEmpty)
  }
}

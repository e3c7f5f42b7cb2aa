import OpenCoreData
import Testing

/// The properties that values have under key-value coding on Apple's platforms.
@Suite struct ValuePropertyTests {
  private func expect(_ subject: Any, _ properties: [String: PredicateValue]) throws {
    for (key, expected) in properties {
      #expect(try value("a.\(key)", for: ["a": subject]) == expected, "\(subject) \(key)")
      #expect(try holds("a.\(key) == %@", expected, for: ["a": subject]), "\(subject) \(key)")
    }
  }

  @Test("Strings have a length, other cases, a number and the parts of a path.")
  func strings() throws {
    try expect(
      "été Le",
      [
        "length": .integer(6), "lowercaseString": .string("été le"), "uppercaseString": .string("ÉTÉ LE"),
        "capitalizedString": .string("Été Le"), "description": .string("été Le"), "intValue": .integer(0),
      ])
    try expect(
      " 12.5x",
      [
        "intValue": .integer(12), "integerValue": .integer(12), "longLongValue": .integer(12),
        "doubleValue": .double(12.5),
        "floatValue": .double(12.5), "boolValue": .integer(1),
      ])
    try expect("99999999999", ["intValue": .integer(Int64(Int32.max)), "integerValue": .integer(99_999_999_999)])
    try expect(
      "/a/b.tar.gz",
      [
        "pathExtension": .string("gz"), "lastPathComponent": .string("b.tar.gz"),
        "stringByDeletingPathExtension": .string("/a/b.tar"), "stringByDeletingLastPathComponent": .string("/a"),
        "pathComponents": PredicateValue(["/", "a", "b.tar.gz"]),
      ])
  }

  @Test("Numbers of every type have values of other types, and a text.")
  func numbers() throws {
    for value in [2.75, Decimal(string: "2.75")!, Float(2.75), NSNumber(value: 2.75)] as [Any] {
      try expect(
        value,
        [
          "intValue": .integer(2), "integerValue": .integer(2), "doubleValue": .double(2.75), "boolValue": .integer(1),
          "floatValue": .double(2.75), "stringValue": .string("2.75"), "description": .string("2.75"),
        ])
    }
    try expect(5, ["stringValue": .string("5"), "doubleValue": .double(5), "longLongValue": .integer(5)])
    try expect(false, ["boolValue": .integer(0), "intValue": .integer(0)])
    try expect(1 << 40 + 3, ["intValue": .integer(3), "integerValue": .integer(1 << 40 + 3)])
  }

  @Test("A number that fits no integer has the nearest, and nothing traps.")
  func extremes() throws {
    try expect(1e300, ["integerValue": .integer(.max), "intValue": .integer(-1)])
    try expect(-Double.infinity, ["integerValue": .integer(.min)])
    try expect(Double.nan, ["integerValue": .integer(0), "boolValue": .integer(1)])
    try expect(Decimal.nan, ["integerValue": .integer(0)])
    try expect(Decimal(string: "1e100")!, ["longLongValue": .integer(.max)])
  }

  @Test("Dates, UUIDs, URLs and data have properties.")
  func others() throws {
    let date = Date(timeIntervalSince1970: 1_000_000_000)
    try expect(
      date,
      [
        "timeIntervalSince1970": .double(1_000_000_000),
        "timeIntervalSinceReferenceDate": .double(date.timeIntervalSinceReferenceDate),
        "description": .string(date.description),
      ])
    #expect(try holds("a.timeIntervalSinceNow < 0", for: ["a": date]))
    let uuid = UUID()
    try expect(uuid, ["UUIDString": .string(uuid.uuidString), "description": .string(uuid.uuidString)])
    try expect(Data([1, 2, 3]), ["length": .integer(3)])
    for url in [URL(string: "http://a.b:8/c/d.e?q=1#f") as Any, NSURL(string: "http://a.b:8/c/d.e?q=1#f") as Any] {
      try expect(
        url,
        [
          "absoluteString": .string("http://a.b:8/c/d.e?q=1#f"), "scheme": .string("http"), "host": .string("a.b"),
          "port": .integer(8), "path": .string("/c/d.e"), "query": .string("q=1"), "fragment": .string("f"),
          "lastPathComponent": .string("d.e"), "pathExtension": .string("e"),
        ])
    }
    try expect(URL(filePath: "/a"), ["host": PredicateValue(URL(filePath: "/a").host), "port": .null])
  }

  @Test("Entities and properties have names and user info.")
  func descriptions() throws {
    let (entity, property) = (NSEntityDescription(), NSFetchedPropertyDescription())
    entity.name = "Pen"
    entity.properties = [property]
    entity.userInfo = ["kind": "tool"]
    property.name = "like"
    property.userInfo = ["color": "blue", "depth": ["least": 2]]
    try expect(
      property,
      [
        "name": .string("like"), "userInfo.color": .string("blue"), "userInfo.depth.least": .integer(2),
        "entity.name": .string("Pen"), "isOptional": .integer(1), "isTransient": .integer(0), "nope": .null,
      ])
    try expect(entity, ["userInfo.kind": .string("tool"), "userInfo.nope": .null])
  }

  @Test("A collection has the properties of its elements, which its operators count.")
  func elements() throws {
    let row = ["expenses": ["100", "250"], "names": ["b.txt", "a.md"]]
    #expect(try value("expenses.@avg.doubleValue", for: row) == .double(175))
    #expect(try value("expenses.doubleValue.@sum", for: row) == .double(350))
    #expect(try value("names.@min.pathExtension", for: row) == .string("md"))
    #expect(try holds("ANY names.pathExtension == 'txt'", for: row))
  }

  @Test("A key that a value does not have is null.")
  func unknown() throws {
    let row = ["a": "x", "b": 1, "c": NSNull(), "d": UUID()] as [String: Any]
    for path in ["a.nope", "b.length", "c.length", "d.absoluteString", "a.length.nope"] {
      #expect(try value(path, for: row) == .null, "\(path)")
    }
  }

  @Test("A dictionary has the values of its keys, and a count.")
  func dictionaries() throws {
    for dictionary in [["length": 7, "b": 8] as Any, NSDictionary(dictionary: ["length": 7, "b": 8])] {
      #expect(try value("a.length", for: ["a": dictionary]) == .integer(7))
      #expect(try value("a.@count", for: ["a": dictionary]) == .integer(2))
      #expect(try value("@count", for: dictionary) == .integer(2))
    }
  }
}

import Foundation
import Testing

@testable import OpenCoreData

@Suite struct DictionaryFetchTests {
  private let staff = Staff()

  @Test("Fetched dictionaries have all stored attributes unless the request names some, and no relationships.")
  func defaults() throws {
    for properties in [nil, []] as [[Any]?] {
      let found = try staff.dictionaries { $0.propertiesToFetch = properties }
      #expect(Set(found[0].allKeys as? [String] ?? []) == ["name", "salary", "age", "isManager", "notes"])
      #expect(found[0]["name"] as? String == "Ada" && found[0]["isManager"] as? Bool == true)
      #expect(found[0]["salary"] as? Double == 30 && found[0]["notes"] as? [String] == ["a", "b"])
      #expect(found[2]["place"] as? [String: String] == ["city": "Paris"])
    }
  }

  @Test("Fetched dictionaries have inherited attributes.")
  func inherited() throws {
    let zoo = Zoo()
    let fetch = try CompiledFetch(staff.request(), of: zoo.dog, reading: RowReader<[String: Int]>.keyed)
    #expect(fetch.dictionaries(among: [["name": 1, "tricks": 2, "owner": 3]]) == [["name": 1, "tricks": 2]])
  }

  @Test("Fetched dictionaries have no keys for nil.")
  func null() throws {
    let found = try staff.dictionaries {
      $0.propertiesToFetch = ["name", "age", "department", column("double", "age * 2")]
    }
    #expect(found[2] == ["name": "Cleo", "department": staff.sales.id])
    #expect(found[3] == ["name": "dán", "age": 51, "double": 102])
  }

  @Test("A to-one relationship is fetched as the destination's identifier.")
  func toOne() throws {
    let found = try staff.dictionaries { $0.propertiesToFetch = ["boss"] }
    #expect(found == [[:], ["boss": staff.ada.id], ["boss": staff.ada.id], ["boss": staff.bob.id]])
    staff.bob.values["boss"] = staff.dan.id
    #expect(try staff.dictionaries { $0.propertiesToFetch = ["boss"] }[1] == ["boss": staff.dan.id])
  }

  @Test("A to-many relationship is refused in a dictionary, and aggregates of it are not.")
  func toMany() throws {
    for (given, name) in [
      ("projects", "projects"), (staff.employee.relationshipsByName["projects"]!, "projects"),
      ("projects.title", "projects.title"), (column("x", "projects.title"), "projects.title"),
    ] as [(Any, String)] {
      let error = #expect(throws: FetchRequestError.self) { try staff.dictionaries { $0.propertiesToFetch = [given] } }
      #expect(error?.reason == .toMany && error?.keyPath == name)
    }
    let found = try staff.dictionaries { $0.propertiesToFetch = ["projects.@count"] }
    #expect(found.map { $0["projects.@count"] as? Int } == [2, 1, 0, 1])
  }

  @Test("Properties to fetch are given by name, by description or as an expression.")
  func entries() throws {
    let found = try staff.dictionaries {
      $0.propertiesToFetch = [
        "name", staff.employee.attributesByName["age"]!, staff.employee.relationshipsByName["department"]!,
        "department.name", column("raised", "salary * 1.5"),
      ]
      $0.fetchLimit = 1
    }
    let ada: NSDictionary = [
      "name": "Ada", "age": 36, "department": staff.research.id, "department.name": "Research", "raised": 45,
    ]
    #expect(found == [ada])
  }

  @Test("Computed values have the type that their expression description names.")
  func resultTypes() throws {
    let id = UUID()
    staff.ada.values["notes"] = "1"
    staff.bob.values["notes"] = id.uuidString
    func value(_ format: String, _ type: NSAttributeType, of row: Int = 0) throws -> Any? {
      try staff.dictionaries { $0.propertiesToFetch = [column("x", format, type)] }[row]["x"]
    }
    for type in [.integer16AttributeType, .integer32AttributeType, .integer64AttributeType] as [NSAttributeType] {
      #expect(try value("salary / 4", type) as? NSNumber == 7)
      #expect(try value("0 - salary / 4", type) as? NSNumber == -7)
      #expect(try value("age", type) as? NSNumber == 36)
      #expect(try value("2 ** 100", type) == nil)
      #expect(try value("name", type) == nil)
    }
    #expect(try value("age / 5", .doubleAttributeType) as? Double == 7)
    #expect(try value("salary / 4", .floatAttributeType) as? Double == 7.5)
    #expect(try value("salary / 4", .decimalAttributeType) as? NSDecimalNumber == NSDecimalNumber(string: "7.5"))
    #expect(try value("age", .booleanAttributeType) as? Bool == true)
    #expect(try value("age - 36", .booleanAttributeType) as? Bool == false)
    #expect(try value("age", .stringAttributeType) as? String == "36")
    #expect(try value("age", .dateAttributeType) as? Date == Date(timeIntervalSinceReferenceDate: 36))
    #expect(try value("notes", .UUIDAttributeType, of: 1) as? UUID == id)
    #expect(try value("'http://a.b'", .URIAttributeType) as? URL == URL(string: "http://a.b"))
    #expect(try value("'AQI='", .binaryDataAttributeType) as? Data == Data([1, 2]))
    #expect(try value("boss", .objectIDAttributeType, of: 1) as? ItemID == staff.ada.id)
    for type in [.undefinedAttributeType, .transformableAttributeType, .compositeAttributeType] as [NSAttributeType] {
      #expect(try value("salary / 4", type) as? Double == 7.5)
    }
  }

  @Test("A value outside the integer type is nil, and decimals are converted exactly.")
  func integerRange() throws {
    func value(_ format: String, _ type: NSAttributeType) throws -> Int64? {
      try staff.dictionaries { $0.propertiesToFetch = [column("x", format, type)] }[0]["x"] as? Int64
    }
    #expect(try value("32767.9", .integer16AttributeType) == 32767)
    #expect(try value("-32768", .integer16AttributeType) == -32768)
    for format in ["32768", "-32769", "4e4", "CAST('40000', 'NSDecimalNumber')", "'1e300'"] {
      #expect(try value(format, .integer16AttributeType) == nil, "\(format)")
    }
    #expect(try value("40000", .integer32AttributeType) == 40000)
    #expect(try value("2147483648", .integer32AttributeType) == nil)
    let large = "CAST('9007199254740993.5', 'NSDecimalNumber')"
    #expect(try value(large, .integer64AttributeType) == 9_007_199_254_740_993)
    #expect(try value("CAST('-0.5', 'NSDecimalNumber')", .integer64AttributeType) == 0)
    #expect(try value("CAST('9223372036854775808', 'NSDecimalNumber')", .integer64AttributeType) == nil)
  }

  @Test("Dictionaries are filtered, sorted, and limited.")
  func order() throws {
    let request = staff.request {
      $0.propertiesToFetch = ["name"]
      $0.predicate = NSPredicate(format: "name != 'Bob'")
      $0.sortDescriptors = [NSSortDescriptor(key: "salary", ascending: false)]
      ($0.fetchOffset, $0.fetchLimit) = (1, 1)
    }
    let fetch = try staff.compiled(request)
    #expect(fetch.dictionaries(among: staff.employees) == [["name": "Cleo"]])
  }

  @Test("Distinct dictionaries are returned once, before offset and limit apply.")
  func distinct() throws {
    func salaries(_ change: (NSFetchRequest<NSDictionary>) -> Void) throws -> [Double?] {
      try staff.dictionaries {
        $0.propertiesToFetch = ["salary"]
        change($0)
      }.map { $0["salary"] as? Double }
    }
    #expect(try salaries { _ in } == [30, 20, 20, nil])
    #expect(try salaries { $0.returnsDistinctResults = true } == [30, 20, nil])
    #expect(try salaries { ($0.returnsDistinctResults, $0.fetchOffset, $0.fetchLimit) = (true, 1, 2) } == [20, nil])
    let bosses = try staff.dictionaries { ($0.propertiesToFetch, $0.returnsDistinctResults) = (["boss"], true) }
    #expect(bosses == [[:], ["boss": staff.ada.id], ["boss": staff.bob.id]])
  }

  @Test("Requesting distinct results changes only fetches of dictionaries.")
  func distinctObjects() throws {
    let request = staff.request {
      ($0.resultType, $0.propertiesToFetch, $0.returnsDistinctResults) = (.managedObjectResultType, ["salary"], true)
    }
    #expect(try staff.compiled(request).count(among: staff.employees) == 4)
  }

  @Test("Dictionaries have the saved values, and make no object.")
  func savedState() throws {
    let reader = RowReader<StoredRow> { _ in
      Issue.record("asked for an object")
      return nil
    } value: { key in
      key.contains(".") ? nil : { PredicateValue($0.value(forKey: key)) }
    }
    let request = staff.request {
      $0.includesPendingChanges = true
      $0.propertiesToFetch = ["name", "boss.name", column("total", "salary + 1")]
      $0.predicate = NSPredicate(format: "age > 1")
      $0.sortDescriptors = [NSSortDescriptor(key: "age", ascending: true)]
      $0.fetchLimit = 1
    }
    let fetch = try CompiledFetch(request, of: staff.employee, reading: reader)
    #expect(fetch.dictionaries(among: staff.employees) == [["name": "Bob", "boss.name": "Ada", "total": 21]])
  }

  @Test("Asking a request of another result type for dictionaries ends the program.")
  func notDictionaries() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let staff = Staff()
      _ = try staff.compiled(staff.request { $0.resultType = .countResultType }).dictionaries(among: [])
    }
    let output: [UInt8] = result?.standardErrorContent ?? []
    #expect(String(decoding: output, as: UTF8.self).contains("not for dictionaries"))
  }
}

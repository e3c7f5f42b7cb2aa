import OpenCoreData
import Testing

/// Comparisons with missing values: as predicates evaluate in memory, not as SQL does.
@Suite struct NullTests {
  private let row: [String: Any] = ["x": "x", "n": 1, "null": NSNull(), "empty": [] as [Int]]

  @Test("nil equals nil and nothing else.")
  func equality() throws {
    #expect(try holds("a == nil", for: row))
    #expect(try holds("null == nil", for: row))
    #expect(try holds("a == b", for: row))
    #expect(try !holds("a == 'x'", for: row))
    #expect(try !holds("a != nil", for: row))
    #expect(try holds("x != nil", for: row))
  }

  @Test("nil is unequal to every value.")
  func inequality() throws {
    #expect(try holds("a != 'x'", for: row))
    #expect(try holds("a != 0", for: row))
    #expect(try holds("NOT (a == 'x')", for: row))
  }

  @Test("Comparisons by order with nil are false.", arguments: ["<", "<=", ">", ">="])
  func order(_ type: String) throws {
    #expect(try !holds("a \(type) 0", for: row))
    #expect(try !holds("0 \(type) a", for: row))
    #expect(try !holds("a \(type) a", for: row))
    #expect(try holds("NOT a \(type) 0", for: row))
    #expect(try !holds("a BETWEEN {0, 1}", for: row))
    #expect(try !holds("n BETWEEN {nil, 1}", for: row))
  }

  @Test("String operators on nil are false.", arguments: ["CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES"])
  func strings(_ type: String) throws {
    #expect(try !holds("a \(type) 'x'", for: row))
    #expect(try !holds("a \(type)[cd] 'x'", for: row))
    #expect(try !holds("x \(type) a", for: row))
    #expect(try !holds("a \(type) a", for: row))
  }

  @Test("IN is false for an empty or missing collection.")
  func membership() throws {
    #expect(try !holds("x IN {}", for: row))
    #expect(try !holds("x IN empty", for: row))
    #expect(try !holds("x IN a", for: row))
    #expect(try !holds("a IN {}", for: row))
    #expect(try !holds("a IN {1}", for: row))
    #expect(try holds("a IN {1, nil}", for: row))
  }

  @Test("ANY of nothing is false, ALL and NONE of nothing are true.", arguments: ["empty", "a", "null"])
  func quantifiers(_ key: String) throws {
    #expect(try !holds("ANY \(key) == 1", for: row))
    #expect(try !holds("ANY \(key) != 1", for: row))
    #expect(try holds("ALL \(key) == 1", for: row))
    #expect(try holds("NONE \(key) == 1", for: row))
  }

  @Test("Arithmetic and functions of nil are nil.")
  func functions() throws {
    for format in ["a + 1", "1 - a", "lowercase(a)", "length(a)", "a.b.c", "a[0]", "abs(a)", "CAST(a, 'NSDate')"] {
      #expect(try value(format, for: row) == .null)
    }
  }
}

import OpenCoreData
import Testing

@Suite struct ValueComparisonTests {
  @Test("Numbers are compared by value, whatever their type.")
  func numbers() throws {
    let ones: [Any] = [
      1, Int8(1), Int16(1), Int32(1), Int64(1), UInt(1), UInt8(1), UInt64(1), 1.0, Float(1), Decimal(1), true,
      NSNumber(value: 1), NSNumber(value: 1.0), NSNumber(value: true), NSDecimalNumber(value: 1),
    ]
    for left in ones {
      for right in ones {
        #expect(
          try holds("a == %@ AND a <= %@ AND NOT a < %@ AND a IN %@", right, right, right, [right], for: ["a": left]))
      }
      #expect(try holds("a < 1.5 AND a > 0.5 AND a != 2 AND a BETWEEN {1, 2}", for: ["a": left]))
    }
  }

  @Test("A decimal equals the literal that is written the same.")
  func decimals() throws {
    #expect(try holds("a == 10.10", for: ["a": Decimal(string: "10.10")!]))
    #expect(try holds("a == 0.1234567", for: ["a": Decimal(string: "0.1234567")!]))
    #expect(try holds("a < 10.11 AND a > 10.09", for: ["a": Decimal(string: "10.10")!]))
    #expect(try holds("a == %@", Decimal(string: "10.1"), for: ["a": 10.1]))
  }

  @Test("Integers that no double distinguishes are distinguished.")
  func largeIntegers() throws {
    let large = Int64(1) << 53
    #expect(try !holds("a == %@", Double(large), for: ["a": large + 1]))
    #expect(try holds("a > %@", Double(large), for: ["a": large + 1]))
    #expect(try holds("a < %@", 0x1p63, for: ["a": Int64.max]))
    #expect(try holds("a > %@", UInt64(Int64.max), for: ["a": UInt64.max]))
    #expect(try holds("a == %@", -0x1p63, for: ["a": Int64.min]))
  }

  @Test("A Boolean compares as a number.")
  func flags() throws {
    for flag in [true, NSNumber(value: true), 1] as [Any] {
      #expect(try holds("flag == YES AND flag == 1 AND flag != NO AND flag == TRUE", for: ["flag": flag]))
    }
    #expect(try holds("flag == NO", for: ["flag": false]))
  }

  @Test("NaN equals nothing, and is in no order with anything.")
  func notANumber() throws {
    for type in ["<", "<=", ">", ">=", "=="] {
      #expect(try !holds("a \(type) 1", for: ["a": Double.nan]))
      #expect(try !holds("1 \(type) a", for: ["a": Double.nan]))
      #expect(try !holds("a \(type) a", for: ["a": Double.nan]))
      #expect(try !holds("a \(type) 1.5", for: ["a": Decimal.nan]))
    }
    for date in [Date(), Date(timeIntervalSinceReferenceDate: .nan)] {
      let row = ["a": Date(timeIntervalSinceReferenceDate: .nan), "b": date]
      for type in ["<", "<=", ">", ">=", "=="] { #expect(try !holds("a \(type) b OR b \(type) a", for: row)) }
    }
    #expect(try holds("a != 1", for: ["a": Double.nan]))
    #expect(try !holds("a BETWEEN {0, 2}", for: ["a": Double.nan]))
  }

  @Test("Values of different kinds are unequal and in no order, and nothing crashes.")
  func mismatch() throws {
    let values: [Any] = [
      "1", 1, Date(timeIntervalSince1970: 1), Data([1]), UUID(), [1], Set([2]), ["k": 1], URL(filePath: "/a"),
    ]
    for (index, left) in values.enumerated() {
      for (other, right) in values.enumerated() where index != other {
        let row = ["a": left, "b": right]
        #expect(try holds("a != b AND NOT a == b", for: row))
        for type in ["<", "<=", ">", ">=", "BEGINSWITH", "LIKE", "MATCHES", "BETWEEN"] {
          #expect(try !holds("a \(type) b", for: row), "\(left) \(type) \(right)")
        }
      }
    }
  }

  @Test("Dates, UUIDs, data and URLs compare in either of their types.")
  func foundationTypes() throws {
    let (date, uuid, data, url) = (Date(timeIntervalSince1970: 5), UUID(), Data([1, 2]), URL(filePath: "/a"))
    #expect(try holds("a == %@ AND a >= %@ AND a < %@", date as NSDate, date, date + 1, for: ["a": date]))
    #expect(try holds("a == %@ AND a IN %@", uuid as NSUUID, [uuid], for: ["a": uuid]))
    #expect(try holds("a == %@", data as NSData, for: ["a": data]))
    #expect(try holds("a == %@", url as NSURL, for: ["a": url]))
    #expect(try holds("a == %@", "x" as NSString, for: ["a": "x"]))
  }

  @Test("Strings are equal by canonical equivalence, and ordered by their scalars.")
  func strings() throws {
    #expect(try holds("a == %@", "e\u{301}", for: ["a": "\u{e9}"]))
    #expect(try holds("'B' < 'a' AND 'a' < 'b' AND 'a' < 'aa' AND 'z' < 'é'"))
    #expect(try !holds("a ==[n] %@", "e\u{301}", for: ["a": "\u{e9}"]))
    #expect(try holds("a ==[n] %@", "\u{e9}", for: ["a": "\u{e9}"]))
  }

  @Test("BETWEEN includes both ends.")
  func between() throws {
    for (number, isBetween) in [(0, false), (1, true), (2, true), (3, true), (4, false)] {
      #expect(try holds("a BETWEEN {1, 3}", for: ["a": number]) == isBetween)
      #expect(try holds("a BETWEEN %@", [1, 3], for: ["a": number]) == isBetween)
      #expect(try holds("a BETWEEN {b, c}", for: ["a": number, "b": 1, "c": 3]) == isBetween)
    }
    #expect(try !holds("a BETWEEN {3, 1}", for: ["a": 2]))
    #expect(try !holds("a BETWEEN {1}", for: ["a": 1]))
    #expect(try holds("a BETWEEN[c] {'B', 'd'}", for: ["a": "C"]))
  }

  @Test("IN searches arrays, sets, key paths, subqueries and strings.")
  func membership() throws {
    let row: [String: Any] = ["a": 2, "list": [1, 2], "items": [["n": 2], ["n": 9]], "s": "b"]
    #expect(try holds("a IN {1, 2}", for: row))
    #expect(try holds("a IN %@", [1.0, 2.0], for: row))
    #expect(try holds("a IN %@", NSSet(array: [2]), for: row))
    #expect(try holds("a IN %@", NSOrderedSet(array: [2]), for: row))
    #expect(try holds("a IN list", for: row))
    #expect(try holds("a IN items.n", for: row))
    #expect(try !holds("9 IN SUBQUERY(items, $i, $i.n < 5).n", for: row))
    #expect(try holds("s IN 'abc'", for: row))
    #expect(try !holds("s IN 'ABC'", for: row))
    #expect(try holds("s IN[c] 'ABC'", for: row))
    #expect(try holds("s IN[c] {'A', 'B'}", for: row))
    #expect(try holds("NOT (a IN {3})", for: row))
    #expect(try holds("SELF IN %@", [1, 2], for: 2))
  }

  @Test("An object can be compared with its identifier.")
  func identity() throws {
    let (first, second) = (Item(id: 1), Item(id: 2))
    #expect(try holds("a == %@ AND a IN %@ AND SELF.a != %@", first.id, [first], second.id, for: ["a": first]))
    #expect(try holds("a == %@", Item(id: 1), for: ["a": first]))
    #expect(try holds("SELF == %@", ItemID(1), for: first))
    #expect(try holds("SELF IN %@", [second.id, first.id], for: first))
    #expect(try !holds("SELF == %@", second, for: first))
  }

  @Test("A temporary and a permanent identifier of one object are equal.")
  func temporaryIdentifiers() throws {
    let first = Item(id: 1)
    #expect(try holds("SELF == %@ AND SELF IN %@", TemporaryItemID(1), [TemporaryItemID(1)], for: first))
    #expect(try holds("a == %@", first, for: ["a": TemporaryItemID(1)]))
    #expect(try holds("a == %@", ItemID(1), for: ["a": TemporaryItemID(1)]))
    #expect(try !holds("SELF == %@", TemporaryItemID(2), for: first))
  }
}

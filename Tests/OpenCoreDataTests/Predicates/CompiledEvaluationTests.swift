import OpenCoreData
import Testing

@Suite struct CompiledEvaluationTests {
  /// A row as a store keeps it: values in slots.
  private struct Row {
    let values: [PredicateValue]
  }

  private let slots = ["a": 0, "b": 1, "tags": 2, "owner": 3, "owner.name": 4]

  private var reader: RowReader<Row> {
    RowReader { row in
      ["a": row.values[0].anyValue as Any]
    } value: { key in
      guard let slot = slots[key] else { return nil }
      return { row in row.values[slot] }
    }
  }

  private let row = Row(values: [
    .integer(5), .string("x"), .collection([.string("p"), .string("q")], ordered: false),
    .object(["name": "O", "age": 9]),
    .string("joined"),
  ])

  @Test("Rows without objects are evaluated through their slots.")
  func slotRows() throws {
    func matches(_ format: String) throws -> Bool {
      try CompiledPredicate(NSPredicate(parsing: format), reading: reader).matches(row)
    }
    #expect(try matches("a > 4 AND b == 'x' AND a + 1 == 6"))
    #expect(try matches("ANY tags == 'q' AND tags.@count == 2 AND 'p' IN tags"))
    #expect(try matches("SUBQUERY(tags, $t, $t == 'q' AND a == 5).@count == 1"))
    #expect(try matches("SELF.a == 5 AND a == 5"))
    #expect(try matches("owner.age == 9 AND owner == owner"))
  }

  @Test("A reader is asked for the longest key path that it knows.")
  func longestPath() throws {
    #expect(try CompiledPredicate(NSPredicate(parsing: "owner.name == 'joined'"), reading: reader).matches(row))
    #expect(try CompiledPredicate(NSPredicate(parsing: "owner.name.length == 6"), reading: reader).matches(row))
  }

  @Test("Keys are looked up once, not for each row.")
  func lookUps() throws {
    var lookUps = 0
    let counting = RowReader<Int>(object: { $0 }) { _ in
      lookUps += 1
      return { .integer(Int64($0)) }
    }
    let compiled = try CompiledPredicate(NSPredicate(parsing: "a > 2 AND a < 5"), reading: counting)
    #expect((0..<100).filter(compiled.matches) == [3, 4])
    #expect(lookUps == 2)
  }

  @Test("A reader is asked for a bounded number of prefixes of a long key path.")
  func longPath() throws {
    var lookUps: [String] = []
    let counting = RowReader<Int>(object: { $0 }) { key in
      lookUps.append(key)
      return key == "a" ? { _ in .object(["a": 7]) } : nil
    }
    let path = "a" + String(repeating: ".self", count: 20_000) + ".a"
    #expect(try CompiledPredicate(NSPredicate(parsing: path + " == 7"), reading: counting).matches(1))
    #expect(lookUps.count == 32 && lookUps.allSatisfy { $0.count < 200 })
    #expect(try NSPredicate(parsing: path + " == 7").evaluate(with: ["a": ["a": 7]]))
  }

  @Test("A value is read through `predicateValue(forKey:)` if its type implements it.")
  func shortWay() throws {
    struct Short: KeyValueCoding {
      func value(forKey key: String) -> Any? { nil }
      func predicateValue(forKey key: String) -> PredicateValue { .string(key) }
    }
    let predicate = NSPredicate(format: "a == 'a' AND ANY b.b == 'b'")
    #expect(try CompiledPredicate(NSPredicate(format: "a == 'a'"), reading: RowReader<Short>.keyed).matches(Short()))
    #expect(!predicate.evaluate(with: Short()))
    #expect(predicate.evaluate(with: ["a": "a", "b": [Short()]] as [String: Any]))
    let byKey = NSSortDescriptor(key: "k", ascending: true)
    #expect(byKey.compare(Short(), to: ["k": "l"]) == .orderedAscending)
  }

  @Test("An unknown key is an error.")
  func unknownKey() {
    #expect(throws: PredicateCompilationError.unknownKey("c")) {
      try CompiledPredicate(NSPredicate(parsing: "a = 1 OR c.d = 1"), reading: reader)
    }
    #expect(throws: PredicateCompilationError.unknownKey("c")) {
      try CompiledExpression(NSExpression(parsing: "sum(c)"), reading: reader)
    }
    #expect(throws: PredicateCompilationError.unknownKey("c")) {
      try CompiledSort([NSSortDescriptor(key: "c", ascending: true)], reading: reader)
    }
  }

  @Test("A predicate with ANYKEY cannot be compiled.")
  func anyKey() {
    #expect(throws: PredicateCompilationError.unsupported("ANYKEY")) {
      try CompiledPredicate(NSPredicate(parsing: "ANYKEY = 'a'"), reading: reader)
    }
  }

  @Test("AND and OR stop as soon as the result is known.")
  func shortCircuit() throws {
    let trap = NSPredicate { _, _ in
      Issue.record("evaluated")
      return true
    }
    let no = NSPredicate(format: "a = 0")
    let and = NSCompoundPredicate(andPredicateWithSubpredicates: [no, trap])
    let or = NSCompoundPredicate(orPredicateWithSubpredicates: [NSPredicate(format: "a = 5"), trap])
    #expect(try !CompiledPredicate(and, reading: reader).matches(row))
    #expect(try CompiledPredicate(or, reading: reader).matches(row))
  }

  @Test("Objects of one type are read by their keys.")
  func keyed() throws {
    let predicate = NSPredicate(format: "a.b = 2 AND c = nil AND SELF.a != nil")
    let compiled = try CompiledPredicate(predicate, reading: RowReader<[String: [String: Int]]>.keyed)
    #expect(compiled.matches(["a": ["b": 2]]))
    let byA = NSSortDescriptor(key: "a", ascending: false)
    let sort = try CompiledSort([byA], reading: RowReader<[String: Int]>.keyed)
    #expect(sort.sorted([["a": 1], ["a": 2]]) == [["a": 2], ["a": 1]])
  }

  @Test("Values at key paths are read as predicates read them.")
  func keyPaths() {
    let row: [String: Any] = ["list": [["n": 1], ["n": 2]], "one": ["name": "x"]]
    #expect(row.value(forKeyPath: "one.name") as? String == "x")
    #expect(row.value(forKeyPath: "list.@sum.n") as? Int == 3)
    #expect(row.value(forKeyPath: "list.n") as? [Int] == [1, 2])
    #expect(row.value(forKeyPath: "none.n") == nil)
    #expect(NSDictionary(dictionary: row).value(forKeyPath: "one.name") as? String == "x")
  }

  @Test("A compiled predicate agrees with a plain interpreter on random predicates and rows.")
  func random() throws {
    var random = RandomPredicates(seed: chooseSeed())
    var held = 0
    for _ in 0..<1500 {
      let predicate = random.predicate(depth: 4)
      let compiled = try CompiledPredicate(predicate, reading: .objects)
      for _ in 0..<6 {
        let row = random.row()
        let expected = Interpreter(row: row).holds(predicate)
        try #require(compiled.matches(row) == expected, "\(predicate.formatText) of \(row)")
        try #require(predicate.evaluate(with: row) == expected, "\(predicate.formatText) of \(row)")
        held += expected ? 1 : 0
      }
    }
    #expect(held > 1500 && held < 7500)
  }

  @Test("Several threads can evaluate one predicate at the same time.")
  func threads() async throws {
    nonisolated(unsafe) let predicate = NSPredicate(format: "a MATCHES 'x+' AND b IN %@", Array(0..<100))
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          (0..<200).allSatisfy {
            unsafe predicate.evaluate(with: ["a": "xx", "b": ($0 + task) % 200]) == (($0 + task) % 200 < 100)
          }
        }
      }
      for await agrees in group { #expect(agrees) }
    }
  }
}

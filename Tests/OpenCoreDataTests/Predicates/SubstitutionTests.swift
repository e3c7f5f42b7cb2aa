import Foundation
import OpenCoreData
import Testing

@Suite struct SubstitutionTests {
  @Test("Substitution replaces variables with values.")
  func substitution() throws {
    let template = NSPredicate(format: "name = $NAME AND (age IN $AGES OR age + $more > 3)")
    let predicate = template.withSubstitutionVariables(["NAME": "x", "AGES": [1, 2], "more": NSNull()])
    #expect(predicate == NSPredicate(format: "name = 'x' AND (age IN %@ OR age + nil > 3)", [1, 2]))
    #expect(predicate is NSCompoundPredicate)
  }

  @Test("Variables without a value remain.")
  func remaining() {
    let predicate = NSPredicate(format: "a = $a AND b = $b").withSubstitutionVariables(["a": 1])
    #expect(predicate == NSPredicate(format: "a = 1 AND b = $b"))
  }

  @Test("The value of a variable may be an expression.")
  func expression() {
    let predicate = NSPredicate(format: "a = $b").withSubstitutionVariables(["b": NSExpression(forKeyPath: "c")])
    #expect(predicate == NSPredicate(format: "a = c"))
    let path = NSPredicate(format: "a = $b.name").withSubstitutionVariables(["b": NSExpression(forKeyPath: "c")])
    #expect(path == NSPredicate(format: "a = c.name") && path.formatText == "a == c.name")
    let own = NSPredicate(format: "$b.a = 1").withSubstitutionVariables(["b": NSExpression(format: "SELF")])
    #expect(own == NSPredicate(format: "a = 1"))
  }

  @Test("The variable of a subquery is not substituted from outside.")
  func hidden() {
    let template = NSPredicate(format: "SUBQUERY($x, $x, $x = 1 AND $y = 2).@count = 1")
    #expect(
      template.withSubstitutionVariables(["x": [1], "y": 3])
        == NSPredicate(format: "SUBQUERY(%@, $x, $x = 1 AND 3 = 2).@count = 1", [1]))
  }

  @Test("Variables may be passed to the evaluation.")
  func evaluation() throws {
    let predicate = NSPredicate(format: "a = $v AND ANY $list = a")
    #expect(predicate.evaluate(with: ["a": 1], substitutionVariables: ["v": 1, "list": [1, 2]]))
    #expect(!predicate.evaluate(with: ["a": 1], substitutionVariables: ["v": 2, "list": [1, 2]]))
    let compiled = try CompiledPredicate(predicate, variables: ["v": 1, "list": [1]], reading: .objects)
    #expect(compiled.matches(["a": 1]))
    #expect(NSExpression(forVariable: "v").expressionValue(with: nil, context: ["v": 5]) as? Int == 5)
  }

  @Test("Block predicates get the variables, including those of subqueries.")
  func blocks() throws {
    let block = NSPredicate { object, variables in
      variables?["x"] as? Int == variables?["y"] as? Int && object is String
    }
    let subquery = NSExpression(
      forSubquery: NSExpression(forConstantValue: [1, 2, 2]), usingIteratorVariable: "x", predicate: block)
    let count = NSExpression(
      forFunction: subquery, selectorName: "valueForKeyPath:", arguments: [NSExpression(forKeyPath: "@count")])
    #expect(count.expressionValue(with: "object", context: ["y": 2]) as? Int == 2)
  }

  @Test("A variable without a value is an error, and ends the program where nothing can be thrown.")
  func unbound() async throws {
    #expect(throws: PredicateCompilationError.unboundVariable("v")) {
      try CompiledPredicate(NSPredicate(parsing: "a = $v"), reading: .objects)
    }
    await #expect(processExitsWith: .failure) { _ = NSPredicate(format: "a = $v").evaluate(with: ["a": 1]) }
  }

  @Test("Values of an object substituted for a variable are read at each evaluation.")
  func changingObject() throws {
    let person = NSMutableDictionary(dictionary: ["city": "Paris"])
    for (format, value) in [
      ("city = $OWNER.city", person), ("city IN $OWNER.city", [person]), ("city = max($OWNER.city)", [person]),
      ("city = $OWNER['city']", person), ("city = $OWNER.one.city", ["one": person]),
    ] as [(String, Any)] {
      person["city"] = "Paris"
      let predicate = try NSPredicate(parsing: format).withSubstitutionVariables(["OWNER": value])
      #expect(predicate.evaluate(with: ["city": "Paris"]), "\(format)")
      person["city"] = "Rome"
      #expect(predicate.evaluate(with: ["city": "Rome"]), "\(format)")
      #expect(!predicate.evaluate(with: ["city": "Paris"]), "\(format)")
    }
  }

  @Test("The time since a date is computed at each evaluation.")
  func timeSince() throws {
    let date = Date()
    let predicate = NSPredicate(format: "SELF > $DATE.timeIntervalSinceNow")
      .withSubstitutionVariables(["DATE": date])
    _ = predicate.evaluate(with: 0)
    Thread.sleep(forTimeInterval: 0.01)
    let later = date.timeIntervalSinceNow
    Thread.sleep(forTimeInterval: 0.01)
    #expect(predicate.evaluate(with: later))
  }
}

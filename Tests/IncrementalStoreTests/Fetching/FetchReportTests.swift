import CoreData
import Dispatch
@testable import IncrementalStore
import Testing

@Suite("What a fetch reads", .entryStore)
struct FetchReportTests {
  private let stack: Stack<RecordingStore>

  /// Four projects, of which each has ten issues with two of three labels, and a part of the issues has an owner.
  init() throws {
    stack = try Stack(Tracker.model(), Backing(), options: [BuildsIndexesFirstOption: NSNumber(value: true)])
    try stack.work { context throws in
      let labels = (0..<3).map { context.make("Label", ["name": "L\($0)"]) }
      let projects = (0..<4).map { context.make("Project", ["name": "P\($0)", "code": $0]) }
      for number in 0..<40 {
        let issue = context.make(number % 5 == 0 ? "Bug" : "Issue", ["number": number, "title": "T\(number % 7)"])
        issue["project"] = projects[number % 4]
        issue["reviewer"] = labels[number % 3]
        issue["rank"] = number % 4 == 3 ? nil : Double(number) / 4
        issue["note"] = String(repeating: "long ", count: 20) + "\(number)"
        issue["labels"] = NSSet(array: [labels[number % 3], labels[(number + 1) % 3]])
      }
      try context.save()
    }
  }

  private func report(
    _ context: NSManagedObjectContext, _ format: String, _ arguments: [Any] = [], of entityName: String = "Issue",
    as type: NSFetchRequestResultType = .managedObjectResultType
  ) throws -> FetchReport {
    let request = people(nil, entityName)
    request.predicate = NSPredicate(format: format, argumentArray: arguments)
    request.resultType = type
    return try stack.store.report(of: request, in: context)
  }

  /// The first object by name or number. The order of the identifiers may be any.
  private func first(_ entityName: String, _ context: NSManagedObjectContext) throws -> NSManagedObject {
    let request = people(nil, entityName)
    request.sortDescriptors = [NSSortDescriptor(key: entityName == "Bug" ? "number" : "name", ascending: true)]
    return try #require(try context.fetch(request).first)
  }

  @Test("A fetch of the objects that refer to an object reads that object, entries of the inverse and what it finds.")
  func toOne() throws {
    try stack.work { context throws in
      let project = try first("Project", context)
      for (format, argument) in [
        ("project == %@", project as Any), ("%@ == project", project.objectID), ("project IN %@", [project]),
        ("project.objectID == %@", project.objectID),
      ] {
        let report = try report(context, format, [argument])
        #expect(report.results == 10 && report.rowsRead == 11 && report.entriesRead == 10, "\(format): \(report)")
      }
      let number = try report(context, "project == %@", [project], as: .countResultType)
      #expect(number.results == 10 && number.rowsRead == 1 && number.entriesRead == 10)
      #expect(number.path?.hasPrefix("Project.issues of ") == true)
      let bugs = try report(context, "project == %@", [project], of: "Bug", as: .countResultType)
      #expect(bugs.results == 2 && bugs.rowsRead == 1)
    }
  }

  @Test("A fetch of the objects that have a member reads entries of the inverse.")
  func toMany() throws {
    try stack.work { context throws in
      let label = try first("Label", context)
      for format in ["ANY labels == %@", "labels CONTAINS %@", "%@ IN labels", "ANY labels.objectID == %@"] {
        let report = try report(context, format, [label], as: .countResultType)
        #expect(report.results == 27 && report.rowsRead == 1 && report.entriesRead == 27, "\(format): \(report)")
      }
      let issue = try first("Bug", context)
      let owner = try report(context, "ANY issues == %@", [issue], of: "Project")
      #expect(owner.results == 1 && owner.rowsRead == 2)
    }
  }

  @Test("A fetch by all attributes of a uniqueness constraint reads the entries of their values.")
  func unique() throws {
    try stack.work { context throws in
      let one = try report(context, "name == %@", ["P2"], of: "Project")
      #expect(one.results == 1 && one.rowsRead == 1 && one.entriesRead == 1)
      #expect(one.path == "1 with a unique name")
      let some = try report(context, "name IN %@ AND code >= 2", [["P1", "P2", "P3", "P4"]], of: "Project")
      #expect(some.results == 2 && some.rowsRead == 3 && some.entriesRead == 3)
      let pair = try report(context, "title == 'T3' AND number == 3.0")
      #expect(pair.results == 1 && pair.rowsRead == 1)
      let inherited = try report(context, "title == 'T3' AND number == 10", of: "Bug")
      #expect(inherited.results == 1 && inherited.rowsRead == 1)
      for format in ["name ==[c] 'p2'", "name != 'P2'", "NOT name != 'P2'", "name == 'P2' OR code == 2"] {
        let all = try report(context, format, of: "Project")
        #expect(all.path == nil && all.rowsRead == 4, "\(format): \(all)")
      }
    }
  }

  @Test("A fetch of named objects reads these.")
  func named() throws {
    try stack.work { context throws in
      let issues = try context.all("Issue").prefix(3).map(\.objectID)
      let some = try report(context, "SELF IN %@", [issues])
      #expect(some.results == 3 && some.rowsRead == 3 && some.path == "3 named")
    }
  }

  @Test("A fetch of the objects that relate to objects with a value finds those first.")
  func related() throws {
    try stack.work { context throws in
      let unique = try report(context, "project.name == 'P1'")
      #expect(unique.results == 10 && unique.rowsRead == 1 + 10)
      let few = try report(context, "project.code > 2")
      #expect(few.results == 10 && few.rowsRead == 4 + 10)
      let many = try report(context, "ANY labels.name BEGINSWITH 'L1'")
      #expect(many.results == 27 && many.rowsRead < 40 + 3 * 27)
      let subquery = try report(
        context, "SUBQUERY(issues, $i, $i.number == 3 AND $i.title == 'T3').@count > 0", of: "Label")
      #expect(subquery.results == 2 && subquery.path?.hasPrefix("Issue.labels of those with ") == true)
    }
  }

  @Test("Of several conditions the one that the fewest objects satisfy is used; alternatives are joined.")
  func combinations() throws {
    try stack.work { context throws in
      let (project, label) = (try first("Project", context), try first("Label", context))
      let both = try report(context, "project == %@ AND ANY labels == %@", [project, label])
      #expect(both.rowsRead == 2 + 10 || both.rowsRead == 1 + 10)
      #expect(both.path?.hasPrefix("Project.issues of ") == true, "of several, the path that was taken is named")
      let unique = try report(context, "ANY labels == %@ AND title == 'T3' AND number == 3", [label])
      #expect(unique.rowsRead <= 2)
      let either = try report(context, "project == %@ OR (number == 3 AND title == 'T3')", [project])
      #expect(either.results == 11 && either.rowsRead == 12)
    }
  }

  @Test("A fetch reads all rows if looking up what entries name would take longer.")
  func most() throws {
    try stack.work { context throws in
      let project = try first("Project", context)
      for number in 100..<1_700 { context.make("Issue", ["number": number, "title": "more"])["project"] = project }
      try context.save()
      let report = try report(context, "project == %@", [project])
      #expect(report.path == nil && report.results == 1_610 && report.rowsRead < 1_700)
      let count = try self.report(context, "project == %@", [project], as: .countResultType)
      #expect(count.results == 1_610 && count.rowsRead == 1)
    }
  }

  @Test("A fetch by the values of a declared index reads entries of the index and the rows that it finds.")
  func declaredIndex() throws {
    try stack.work { context throws in
      func expect(
        _ format: String, _ arguments: [Any] = [], results: Int, rows: Int? = nil, entries: Int? = nil,
        as type: NSFetchRequestResultType = .managedObjectResultType, sourceLocation: SourceLocation = #_sourceLocation
      ) throws {
        let found = try report(context, format, arguments, as: type)
        #expect(
          found.results == results && found.rowsRead == rows ?? results && found.entriesRead == entries ?? results,
          "\(found)", sourceLocation: sourceLocation)
      }
      try expect("rank == 2.5", results: 1)
      try expect("rank == nil", results: 10)
      try expect("rank IN {0, 1, 4, 77}", results: 3)
      try expect("rank >= 9", results: 3)
      try expect("rank > 9", results: 2)
      try expect("1 > rank", results: 3)
      try expect("rank BETWEEN {1, 2}", results: 4)
      try expect("rank > 9", results: 2, rows: 0, as: .countResultType)
      try expect("title == 'T6' AND number BETWEEN {10, 30}", results: 3, rows: 0, as: .countResultType)
      if RowCollector.ordersTextsByScalars { try expect("title BEGINSWITH 'T6'", results: 5) }
      try expect("title == 'T6' AND number BETWEEN {10, 30}", results: 3)
      try expect("title IN {'T5', 'T6'} AND number == 20", results: 1)
      try expect("title == 'T6'", results: 5, rows: 0, as: .countResultType)
      try expect("title == 'T6' AND number == 6", results: 1, rows: 0, as: .countResultType)
      let label = try first("Label", context)
      try expect("reviewer == %@ AND rank < 2", [label], results: 2)
      // The beginnings of these values are the same, and an index has no more than that.
      guard RowCollector.ordersTextsByScalars else { return }
      try expect("note ENDSWITH ' 7' AND note BEGINSWITH 'long'", results: 1, rows: 40, entries: 57)
    }
  }

  @Test("A fetch of the first objects in the order of a declared index reads no others.")
  func declaredOrder() throws {
    try stack.work { context throws in
      func expect(
        _ format: String?, _ keys: [(String, Bool)], _ numbers: [Int], rows: Int,
        sourceLocation: SourceLocation = #_sourceLocation
      ) throws {
        let request = people(nil, "Issue")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = keys.map { NSSortDescriptor(key: $0, ascending: $1) }
        (request.fetchOffset, request.fetchLimit) = (1, 3)
        let found = try stack.store.report(of: request, in: context)
        #expect(try context.fetch(request).map { $0["number"] as? Int } == numbers, sourceLocation: sourceLocation)
        #expect(found.rowsRead == rows && found.results == 3, "\(found)", sourceLocation: sourceLocation)
        guard RowCollector.takesGroups else { return }
        (request.resultType, request.propertiesToFetch) = (.dictionaryResultType, ["number"])
        let dictionaries = try stack.store.execute(request, with: context) as? [NSDictionary]
        #expect(dictionaries?.map { $0["number"] as? Int } == numbers, sourceLocation: sourceLocation)
        #expect(
          try stack.store.report(of: request, in: context).rowsRead == rows, "dictionaries",
          sourceLocation: sourceLocation)
      }
      try expect(nil, [("rank", false)], [37, 36, 34], rows: 3)
      try expect("rank > 1", [("rank", true)], [6, 8, 9], rows: 3)
      try expect("title == 'T6'", [("number", true)], [13, 20, 27], rows: 3)
      // Not all of the index is in the order that is asked for, and the rows tell the rest.
      try expect(nil, [("rank", true), ("number", false)], [35, 31, 27], rows: 10)
      guard RowCollector.ordersTextsByScalars else { return }
      try expect(nil, [("title", true), ("number", false)], [28, 21, 14], rows: 6)
      try expect(nil, [("title", true), ("number", true)], [7, 14, 21], rows: 3)
    }
  }

  @Test("A fetch of the first objects by a text of which an index has only a part sorts them by the whole text.")
  func cutTexts() throws {
    try stack.work { context throws in
      for number in 100..<140 {
        let issue = context.make("Issue", ["number": number])
        issue["note"] = number < 103 ? String(repeating: "a long ", count: 10) + "\(109 - number)" : "b"
      }
      try context.save()
      let request = people(nil, "Issue")
      request.sortDescriptors = [NSSortDescriptor(key: "note", ascending: true)]
      request.fetchLimit = 2
      #expect(try context.fetch(request).map { $0["number"] as? Int } == [102, 101])
      guard RowCollector.ordersTextsByScalars else { return }
      #expect(try stack.store.report(of: request, in: context).path == "in the order of the index on note")
    }
  }

  @Test("Objects before the first text of which an index has only a part are fetched once.")
  func cutTextsBehindOthers() throws {
    try stack.work { context throws in
      for number in 100..<123 {
        let issue = context.make("Issue", ["number": number])
        issue["note"] = number < 120 ? "A\(number)" : String(repeating: "a long ", count: 10) + "\(129 - number)"
      }
      try context.save()
      let request = people(nil, "Issue")
      request.sortDescriptors = [NSSortDescriptor(key: "note", ascending: true)]
      request.fetchLimit = 22
      request.returnsObjectsAsFaults = false
      #expect(try context.fetch(request).map { $0["number"] as? Int } == Array(100..<120) + [122, 121])
    }
  }

  @Test("A fetch uses the order of the index that its predicate restricts, and reads no rows before its offset.")
  func restrictedOrder() throws {
    try stack.work { context throws in
      let label = try first("Label", context)
      for number in 100..<1_600 {
        let issue = context.make("Issue", ["number": number, "title": "more", "rank": Double(number / 4)])
        if number % 2 == 0 { issue["reviewer"] = label }
      }
      try context.save()
      let request = people(nil, "Issue")
      request.predicate = NSPredicate(format: "reviewer == %@", label)
      request.sortDescriptors = [NSSortDescriptor(key: "rank", ascending: false)]
      (request.fetchOffset, request.fetchLimit) = (101, 2)
      let report = try stack.store.report(of: request, in: context)
      // Two objects share each rank: the fetch reads one of rank 349 and one of rank 348; both, if it sorts them.
      #expect(report.path == "in the order of the index on reviewer, rank")
      #expect(report.rowsRead == (RowCollector.keepsKeys ? 2 : 3) && report.entriesRead < 110, "\(report)")
      // Objects of the same rank come in the order of their references, which need not be that of their numbers.
      let ranks = try context.fetch(request).map { $0["rank"] as? Double }
      #expect(ranks == [349, 348])
      request.fetchOffset = 750
      #expect(try context.fetch(request).count == 2)
      request.fetchOffset = 2_000
      #expect(try context.fetch(request).isEmpty)
    }
  }

  @Test("Groups by the first properties of an index are counted from its entries; one row of each is read.")
  func groups() throws {
    try stack.work { context throws in
      let count = NSExpressionDescription()
      count.name = "count"
      count.expression = NSExpression(forFunction: "count:", arguments: [NSExpression(forKeyPath: "objectID")])
      count.expressionResultType = .integer64AttributeType
      func expect(
        _ names: [String], of format: String? = nil, _ values: [[AnyHashable?]], rows: Int?,
        sourceLocation: SourceLocation = #_sourceLocation
      ) throws {
        let request = people(nil, "Issue")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.resultType = .dictionaryResultType
        request.propertiesToGroupBy = names
        request.propertiesToFetch = names + [count]
        request.sortDescriptors = names.map { NSSortDescriptor(key: $0, ascending: true) }
        let found = try stack.store.execute(request, with: context) as? [NSDictionary] ?? []
        let dictionaries = found.map { each in (names + ["count"]).map { each[$0] as? AnyHashable } }
        #expect(dictionaries == values, sourceLocation: sourceLocation)
        let report = try stack.store.report(of: request, in: context)
        if let rows { #expect(report.rowsRead == rows, "\(report)", sourceLocation: sourceLocation) }
      }
      try expect(["title"], (0..<7).map { ["T\($0)", $0 < 5 ? 6 : 5] }, rows: RowCollector.takesGroups ? 7 : nil)
      try expect(
        ["number"], of: "title == 'T6'", [6, 13, 20, 27, 34].map { [$0, 1] }, rows: RowCollector.takesGroups ? 5 : nil)
      try expect(["rank"], of: "rank IN {0, 1}", [[0.0, 1], [1.0, 1]], rows: nil)
      try expect(["reviewer.name"], [["L0", 14], ["L1", 13], ["L2", 13]], rows: nil)
      let notes = people(nil, "Issue")
      notes.resultType = .dictionaryResultType
      (notes.propertiesToGroupBy, notes.propertiesToFetch) = (["note"], ["note", count])
      #expect(try (stack.store.execute(notes, with: context) as? [Any])?.count == 40)
    }
  }

  @Test("The objects that relate to objects with a value are counted from entries.")
  func relatedCount() throws {
    try stack.work { context throws in
      let labelled = try report(context, "ANY labels.name BEGINSWITH 'L1'", as: .countResultType)
      #expect(labelled.results == 27 && labelled.rowsRead == 3 && labelled.entriesRead == 27, "\(labelled)")
      let several = try report(context, "ANY labels.name >= 'L1'", as: .countResultType)
      #expect(several.results == 40 && several.rowsRead == 3, "\(several)")
      let bugs = try report(context, "project.name == 'P1'", of: "Bug", as: .countResultType)
      #expect(bugs.results == 2 && bugs.rowsRead == 1, "\(bugs)")
    }
  }

  @Test("Objects that refer to an object that no longer exists are found among all rows.")
  func dangling() throws {
    try stack.work { context throws in
      let project = try first("Project", context)
      context.delete(project)
      try context.save()
      let left = try report(context, "project == %@", [project.objectID])
      #expect(left.results == 10 && left.path == nil)
      #expect(try report(context, "project == %@", [project.objectID], as: .countResultType).results == 10)
    }
  }

  @Test("A store that was removed from its coordinator reports an error.")
  func refusals() throws {
    let context = stack.context()
    let coordinator = try #require(stack.store.persistentStoreCoordinator)
    try coordinator.remove(stack.store)
    context.performAndWait {
      let error = #expect(throws: NSError.self) { try report(context, "name == 'P2'", of: "Project") }
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSPersistentStoreOperationError)
    }
  }

  @Test("Reports and saves of several threads do not disturb each other.")
  func threads() {
    nonisolated(unsafe) let tests = self
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      #expect(throws: Never.self) { try unsafe tests.reportAndSave(saving: thread == 0) }
    }
  }

  private func reportAndSave(saving: Bool) throws {
    let context = stack.context()
    try context.performAndWait {
      for round in 0..<10 {
        if saving {
          try first("Project", context)["code"] = round
          try context.save()
        }
        #expect(try report(context, "name == 'P2'", of: "Project").results == 1)
      }
    }
  }

  @Test("A report is one line of text.")
  func text() throws {
    try stack.work { context throws in
      let text = try report(context, "name == 'P2'", of: "Project").description
      #expect(text.hasPrefix("Project: 1 with a unique name. Entries read: 1, rows read: 1, found: 1, in "))
      #expect(text.hasSuffix(" ms"))
    }
  }
}

/// Projects with issues, some of which are bugs, and labels of issues.
enum Tracker {
  static func model() -> NSManagedObjectModel {
    let (project, label) = (Town.entity("Project"), Town.entity("Label"))
    let (issue, bug) = (Town.entity("Issue"), Town.entity("Bug"))
    let issues = Town.relationship("issues", to: issue, rule: .noActionDeleteRule)
    let projectOf = Town.relationship("project", to: project, isToMany: false)
    let labels = Town.relationship("labels", to: label)
    let labelled = Town.relationship("issues", to: issue)
    for (one, other) in [(issues, projectOf), (labels, labelled)] {
      (one.inverseRelationship, other.inverseRelationship) = (other, one)
    }
    project.properties = [Town.attribute("name", .string), Town.attribute("code", .integer32), issues]
    project.uniquenessConstraints = [["name"]]
    label.properties = [Town.attribute("name", .string), labelled]
    issue.properties = [Town.attribute("number", .integer64), Town.attribute("title", .string), projectOf, labels]
    issue.properties += [
      Town.attribute("rank", .double), Town.attribute("note", .string),
      Town.relationship("reviewer", to: label, isToMany: false),
    ]
    issue.uniquenessConstraints = [["number", "title"]]
    issue.subentities = [bug]
    issue.indexes = [["title", "number"], ["rank"], ["reviewer", "rank"], ["note"]].map { names in
      NSFetchIndexDescription(
        name: names.joined(),
        elements: names.map {
          NSFetchIndexElementDescription(property: issue.propertiesByName[$0]!, collationType: .binary)
        })
    }
    let model = NSManagedObjectModel()
    model.entities = [project, label, issue, bug]
    return model
  }
}

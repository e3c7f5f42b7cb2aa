import Comparing
import Foundation
import OpenCoreData

final class CoreDataContender: IssueContender {
  let store: ManagedStore
  private var projects: [NSManagedObjectID] = []
  private var labels: [NSManagedObjectID] = []
  private var issues: [NSManagedObjectID] = []

  init(at url: URL) { store = ManagedStore(Self.model(), at: url) }

  func open() throws { try store.open() }

  func resolveIdentifiers() {
    projects = store.resolved(projects)
    labels = store.resolved(labels)
    issues = store.resolved(issues)
  }

  func insert(_ tracker: Tracker) throws {
    projects = try insert("Project", named: tracker.projects)
    labels = try insert("Label", named: tracker.labels)
    for batch in tracker.batches {
      try store.work { context in
        let inserted = tracker.issues[batch].map { issue in
          let object = insert(issue, into: context)
          for comment in tracker.comments[issue.comments] { insert(comment, on: object, into: context) }
          return object
        }
        try context.save()
        issues += inserted.map(\.objectID)
      }
    }
  }

  private func insert(_ entity: String, named names: [String]) throws -> [NSManagedObjectID] {
    try names.batches.flatMap { batch in
      try store.work { context in
        let inserted = batch.map { name in
          let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
          object.setAttributeValue(name, forKey: "name")
          return object
        }
        try context.save()
        return inserted.map(\.objectID)
      }
    }
  }

  private func insert(_ issue: Tracker.Issue, into context: NSManagedObjectContext) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: "Issue", into: context)
    object.setAttributeValue(issue.uuid, forKey: "uuid")
    object.setAttributeValue(Int64(issue.number), forKey: "number")
    object.setAttributeValue(issue.title, forKey: "title")
    object.setAttributeValue(issue.body, forKey: "body")
    object.setAttributeValue(issue.status, forKey: "status")
    object.setAttributeValue(Int64(issue.priority), forKey: "priority")
    object.setAttributeValue(issue.created, forKey: "created")
    if let estimate = issue.estimate { object.setAttributeValue(estimate, forKey: "estimate") }
    object.setRelatedObject(context.object(with: projects[issue.project]), forKey: "project")
    object.setValue(Set(issue.labels.map { context.object(with: labels[$0]) }), forKey: "labels")
    return object
  }

  private func insert(_ comment: Tracker.Comment, on issue: NSManagedObject, into context: NSManagedObjectContext) {
    let object = NSEntityDescription.insertNewObject(forEntityName: "Comment", into: context)
    object.setAttributeValue(comment.text, forKey: "text")
    object.setAttributeValue(comment.author, forKey: "author")
    object.setAttributeValue(comment.created, forKey: "created")
    object.setRelatedObject(issue, forKey: "issue")
  }

  func content() throws -> TrackerContent {
    try store.work { context in
      let labels = try context.fetch(request("Label"))
      var content = TrackerContent(
        projects: try context.count(for: request("Project")), labels: labels.count,
        labellings: labels.reduce(0) { $0 + $1.objectIDs(forRelationshipNamed: "issues").count })
      for issue in try context.fetch(request("Issue")) {
        content.add(
          uuid: issue.value(forKey: "uuid") as! UUID, number: issue.number, title: issue.title,
          body: issue.value(forKey: "body") as! String, status: issue.value(forKey: "status") as! String,
          priority: issue.value(forKey: "priority") as! Int, created: issue.value(forKey: "created") as! Date,
          estimate: issue.value(forKey: "estimate") as! Double?)
      }
      for comment in try context.fetch(request("Comment")) {
        content.add(
          commentOf: comment.value(forKey: "author") as! String, text: comment.value(forKey: "text") as! String)
      }
      return content
    }
  }

  func countComments(of issues: [Int]) throws -> Int {
    let ids = issues.map { self.issues[$0] }
    return try store.work { context in
      try ids.reduce(0) { try $0 + context.count(for: request("Comment", NSPredicate(format: "issue == %@", $1))) }
    }
  }

  func fetch(uuids: [UUID]) throws -> Int {
    try store.work { context in
      try uuids.reduce(0) { sum, uuid in
        let request = request("Issue", NSPredicate(format: "uuid == %@", uuid as NSUUID))
        request.fetchLimit = 1
        return try sum + context.read(request)
      }
    }
  }

  func fetch(ofProjects projects: [Int]) throws -> Int {
    let ids = projects.map { self.projects[$0] }
    return try store.work { context in
      try ids.reduce(0) { try $0 + context.read(request("Issue", NSPredicate(format: "project == %@", $1))) }
    }
  }

  func fetchNewestOpen(_ limit: Int, times: Int) throws -> Int {
    try store.work { context in
      try (0..<times).reduce(0) { sum, _ in
        let request = request("Issue", NSPredicate(format: "status == %@", "open"))
        request.sortDescriptors = [NSSortDescriptor(key: "created", ascending: false)]
        request.fetchLimit = limit
        return try sum &+ context.readInOrder(request)
      }
    }
  }

  func fetch(pages: Int, of size: Int) throws -> Int {
    try store.work { context in
      try (0..<pages).reduce(0) { sum, page in
        let request = request("Issue")
        request.sortDescriptors = [NSSortDescriptor(key: "created", ascending: true)]
        request.fetchOffset = page * size
        request.fetchLimit = size
        return try sum &+ context.readInOrder(request)
      }
    }
  }

  func fetch(ofProjectsNamed names: [String]) throws -> Int {
    try store.work { context in
      try names.reduce(0) { try $0 + context.read(request("Issue", NSPredicate(format: "project.name == %@", $1))) }
    }
  }

  func count(withLabelsNamed names: [String]) throws -> Int {
    try store.work { context in
      try names.reduce(0) {
        try $0 + context.count(for: request("Issue", NSPredicate(format: "ANY labels.name == %@", $1)))
      }
    }
  }

  func countOpen(times: Int) throws -> Int {
    try store.work { context in
      try (0..<times).reduce(0) { sum, _ in
        try sum + context.count(for: request("Issue", NSPredicate(format: "status == %@", "open")))
      }
    }
  }

  func countStatuses(times: Int) throws -> Int {
    try store.work { context in
      try (0..<times).reduce(0) { sum, _ in
        try context.fetch(groups("status", [("count", "count:", "objectID")])).reduce(sum) {
          $0 + ($1["status"] as! String).utf8.count * ($1["count"] as! Int)
        }
      }
    }
  }

  func fetch(created dates: [Range<Date>]) throws -> Int {
    try store.work { context in
      try dates.reduce(0) { sum, range in
        let predicate = NSPredicate(
          format: "created >= %@ AND created < %@", range.lowerBound as NSDate, range.upperBound as NSDate)
        return try sum + context.read(request("Issue", predicate))
      }
    }
  }

  func scan(priorityAbove priority: Int) throws -> Int {
    try store.work { context in try context.read(request(priorityAbove: priority)) }
  }

  func count(priorityAbove priority: Int) throws -> Int {
    try store.work { context in try context.count(for: request(priorityAbove: priority)) }
  }

  func groupByPriority() throws -> Int {
    try store.work { context in
      let columns = [("count", "count:", "objectID"), ("estimates", "sum:", "estimate")]
      return try context.fetch(groups("priority", columns)).reduce(0) {
        $0 + ($1["priority"] as! Int) * ($1["count"] as! Int) + Int($1["estimates"] as! Double)
      }
    }
  }

  func identifiers() throws -> Int {
    try store.work { context in
      let request = NSFetchRequest<NSManagedObjectID>(entityName: "Issue")
      request.resultType = .managedObjectIDResultType
      return try context.fetch(request).count
    }
  }

  func change(_ issues: [Int]) throws -> Int {
    let ids = issues.map { self.issues[$0] }
    return try store.work { context in
      let fetched = try context.fetch(request("Issue", NSPredicate(format: "SELF IN %@", ids)))
      for issue in fetched {
        issue.setAttributeValue("now number \(issue.number)", forKey: "title")
        issue.setAttributeValue("waiting", forKey: "status")
      }
      try context.save()
      return fetched.reduce(0) { $0 + $1.number }
    }
  }

  func delete(_ issues: [Int]) throws {
    let ids = issues.map { self.issues[$0] }
    try store.work { context in
      for id in ids { context.delete(context.object(with: id)) }
      try context.save()
    }
  }
}

private func request(priorityAbove priority: Int) -> NSFetchRequest<NSManagedObject> {
  request("Issue", NSPredicate(format: "priority > %@", priority as NSNumber))
}

/// A request that groups the issues by a property.
private func groups(
  _ key: String, _ columns: [(name: String, function: String, argument: String)]
) -> NSFetchRequest<NSDictionary> {
  let request = NSFetchRequest<NSDictionary>(entityName: "Issue")
  request.resultType = .dictionaryResultType
  request.propertiesToGroupBy = [key]
  let computed = columns.map { column in
    let description = NSExpressionDescription()
    description.name = column.name
    description.expression = NSExpression(
      forFunction: column.function, arguments: [NSExpression(forKeyPath: column.argument)])
    return description
  }
  request.propertiesToFetch = [key] + computed as [Any]
  return request
}

/// A request for objects with their values.
private func request(_ entity: String, _ predicate: NSPredicate? = nil) -> NSFetchRequest<NSManagedObject> {
  let request = NSFetchRequest<NSManagedObject>(entityName: entity)
  request.predicate = predicate
  request.returnsObjectsAsFaults = false
  return request
}

extension NSManagedObjectContext {
  fileprivate func read(_ request: NSFetchRequest<NSManagedObject>) throws -> Int {
    try fetch(request).reduce(0) { $0 + $1.number + $1.title.utf8.count }
  }

  /// Gives another sum if the order is another.
  fileprivate func readInOrder(_ request: NSFetchRequest<NSManagedObject>) throws -> Int {
    try fetch(request).reduce(0) { $0 &* 31 &+ $1.number &+ $1.title.utf8.count }
  }
}

/// The properties as `modelgen` writes them.
extension NSManagedObject {
  fileprivate var number: Int { Int(attributeValue(forKey: "number") as Int64? ?? 0) }
  fileprivate var title: String { attributeValue(forKey: "title") ?? "" }
}

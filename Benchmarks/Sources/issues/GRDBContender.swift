import Comparing
import Foundation
import GRDB

/// Records in SQLite, read and written with prepared statements.
final class GRDBContender: IssueContender {
  let store: RecordStore
  private var projects: [Int64] = []
  private var labels: [Int64] = []
  private var issues: [Int64] = []
  private var queue: DatabaseQueue { store.queue }

  init(at url: URL) { store = RecordStore(Self.schema, at: url) }

  func open() throws { try store.open() }

  /// Identifiers are numbers here, which stay valid.
  func resolveIdentifiers() {}

  func insert(_ tracker: Tracker) throws {
    projects = try insert("project", named: tracker.projects)
    labels = try insert("label", named: tracker.labels)
    for batch in tracker.batches {
      try queue.write { database in
        let insertIssue = try database.cachedStatement(
          sql: "INSERT INTO issue VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        let insertLabelling = try database.cachedStatement(sql: "INSERT INTO labelling VALUES (?, ?)")
        let insertComment = try database.cachedStatement(sql: "INSERT INTO comment VALUES (NULL, ?, ?, ?, ?)")
        for issue in tracker.issues[batch] {
          let id = try database.insert(
            insertIssue,
            [
              issue.uuid, issue.number, issue.title, issue.body, issue.status, issue.priority,
              issue.created.timeIntervalSinceReferenceDate, issue.estimate, projects[issue.project],
            ])
          issues.append(id)
          for label in issue.labels { _ = try database.insert(insertLabelling, [id, labels[label]]) }
          for comment in tracker.comments[issue.comments] {
            _ = try database.insert(
              insertComment, [comment.text, comment.author, comment.created.timeIntervalSinceReferenceDate, id])
          }
        }
      }
    }
  }

  private func insert(_ table: String, named names: [String]) throws -> [Int64] {
    try names.batches.flatMap { batch in
      try queue.write { database in
        let statement = try database.cachedStatement(sql: "INSERT INTO \(table) (name) VALUES (?)")
        return try batch.map { try database.insert(statement, [$0]) }
      }
    }
  }

  func content() throws -> TrackerContent {
    try queue.read { database in
      func rows(_ table: String) throws -> Int { try Table(table).fetchCount(database) }
      var content = TrackerContent(
        projects: try rows("project"), labels: try rows("label"), labellings: try rows("labelling"))
      let issues = try IssueRecord.fetchCursor(database)
      while let issue = try issues.next() {
        content.add(
          uuid: issue.uuid, number: issue.number, title: issue.title, body: issue.body, status: issue.status,
          priority: Int(issue.priority), created: issue.created, estimate: issue.estimate)
      }
      let comments = try CommentRecord.fetchCursor(database)
      while let comment = try comments.next() { content.add(commentOf: comment.author, text: comment.text) }
      return content
    }
  }

  func countComments(of issues: [Int]) throws -> Int {
    try count("SELECT COUNT(*) FROM comment WHERE issue = ?", issues.map { [self.issues[$0]] })
  }

  func fetch(uuids: [UUID]) throws -> Int {
    try read("SELECT * FROM issue WHERE uuid = ? LIMIT 1", uuids.map { [$0] })
  }

  func fetch(ofProjects projects: [Int]) throws -> Int {
    try read("SELECT * FROM issue WHERE project = ?", projects.map { [self.projects[$0]] })
  }

  func fetchNewestOpen(_ limit: Int, times: Int) throws -> Int {
    try readInOrder(
      "SELECT * FROM issue WHERE status = ? ORDER BY created DESC LIMIT ?",
      (0..<times).map { _ in ["open", limit] })
  }

  func fetch(pages: Int, of size: Int) throws -> Int {
    try readInOrder(
      "SELECT * FROM issue ORDER BY created LIMIT ? OFFSET ?", (0..<pages).map { [size, $0 * size] })
  }

  func fetch(ofProjectsNamed names: [String]) throws -> Int {
    try read(
      "SELECT issue.* FROM issue JOIN project ON project.id = issue.project WHERE project.name = ?",
      names.map { [$0] })
  }

  func count(withLabelsNamed names: [String]) throws -> Int {
    try count(
      """
      SELECT COUNT(DISTINCT labelling.issue) FROM labelling JOIN label ON label.id = labelling.label
      WHERE label.name = ?
      """, names.map { [$0] })
  }

  func countOpen(times: Int) throws -> Int {
    try count("SELECT COUNT(*) FROM issue WHERE status = ?", (0..<times).map { _ in ["open"] })
  }

  func countStatuses(times: Int) throws -> Int {
    try each("SELECT status, COUNT(*) FROM issue GROUP BY status", (0..<times).map { _ in [] }) {
      try Row.fetchAll($0, arguments: $1).reduce(0) { sum, row in
        let (status, count): (String, Int) = (row[0], row[1])
        return sum + status.utf8.count * count
      }
    }
  }

  func fetch(created dates: [Range<Date>]) throws -> Int {
    try read(
      "SELECT * FROM issue WHERE created >= ? AND created < ?",
      dates.map { [$0.lowerBound.timeIntervalSinceReferenceDate, $0.upperBound.timeIntervalSinceReferenceDate] })
  }

  func scan(priorityAbove priority: Int) throws -> Int {
    try read("SELECT * FROM issue WHERE priority > ?", [[priority]])
  }

  func count(priorityAbove priority: Int) throws -> Int {
    try count("SELECT COUNT(*) FROM issue WHERE priority > ?", [[priority]])
  }

  func groupByPriority() throws -> Int {
    try each("SELECT priority, COUNT(*), SUM(estimate) FROM issue GROUP BY priority", [[]]) {
      try Row.fetchAll($0, arguments: $1).reduce(0) { sum, row in
        let (priority, count, estimates): (Int, Int, Double) = (row[0], row[1], row[2])
        return sum + priority * count + Int(estimates)
      }
    }
  }

  func identifiers() throws -> Int {
    try queue.read { database in
      let statement = try database.cachedStatement(sql: "SELECT id FROM issue")
      return try Int64.fetchAll(statement).count
    }
  }

  func change(_ issues: [Int]) throws -> Int {
    let ids = issues.map { self.issues[$0] }
    return try queue.write { database in
      let update = try database.cachedStatement(sql: "UPDATE issue SET title = ?, status = ? WHERE id = ?")
      return try IssueRecord.fetchAll(database, keys: ids).reduce(0) { sum, issue in
        update.setUncheckedArguments(["now number \(issue.number)", "waiting", issue.id])
        try update.execute()
        return sum + issue.number
      }
    }
  }

  func delete(_ issues: [Int]) throws {
    let ids = issues.map { self.issues[$0] }
    try queue.write { database in
      let delete = try database.cachedStatement(sql: "DELETE FROM issue WHERE id = ?")
      for id in ids {
        delete.setUncheckedArguments([id])
        try delete.execute()
      }
    }
  }

  // Each of these runs one statement once for each of the arguments.

  private func read(_ sql: String, _ arguments: [StatementArguments]) throws -> Int {
    try each(sql, arguments) { try IssueRecord.fetchAll($0, arguments: $1).reduce(0) { $0 + $1.sum } }
  }

  /// Gives another sum if the order is another.
  private func readInOrder(_ sql: String, _ arguments: [StatementArguments]) throws -> Int {
    try each(sql, arguments) { try IssueRecord.fetchAll($0, arguments: $1).reduce(0) { $0 &* 31 &+ $1.sum } }
  }

  private func count(_ sql: String, _ arguments: [StatementArguments]) throws -> Int {
    try each(sql, arguments) { try Int.fetchOne($0, arguments: $1)! }
  }

  private func each(
    _ sql: String, _ arguments: [StatementArguments], _ answer: (Statement, StatementArguments) throws -> Int
  ) throws -> Int {
    try queue.read { database in
      let statement = try database.cachedStatement(sql: sql)
      return try arguments.reduce(0) { try $0 &+ answer(statement, $1) }
    }
  }
}

extension IssueRecord {
  fileprivate var sum: Int { number + title.utf8.count }
}

import Foundation
import GRDB

/// A row of the table of issues.
struct IssueRecord: FetchableRecord, TableRecord {
  static let databaseTableName = "issue"

  let id: Int64
  let uuid: UUID
  let number: Int
  let title: String
  let body: String
  let status: String
  let priority: Int16
  let created: Date
  let estimate: Double?
  let project: Int64?

  init(row: Row) {
    id = row[0]
    uuid = row[1]
    number = row[2]
    title = row[3]
    body = row[4]
    status = row[5]
    priority = row[6]
    created = Date(timeIntervalSinceReferenceDate: row[7])
    estimate = row[8]
    project = row[9]
  }
}

/// A row of the table of comments.
struct CommentRecord: FetchableRecord, TableRecord {
  static let databaseTableName = "comment"

  let id: Int64
  let text: String
  let author: String
  let created: Date
  let issue: Int64?

  init(row: Row) {
    id = row[0]
    text = row[1]
    author = row[2]
    created = Date(timeIntervalSinceReferenceDate: row[3])
    issue = row[4]
  }
}

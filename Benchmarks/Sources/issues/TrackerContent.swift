import Foundation

/// A summary of a tracker, by which two are compared.
struct TrackerContent: Equatable {
  var projects: Int
  var labels: Int
  var issues = 0
  var comments = 0
  /// Pairs of an issue and a label.
  var labellings: Int
  /// The length of all texts in UTF-8.
  var textBytes = 0
  /// The sum of all numbers and priorities, and the first bytes of the UUIDs.
  var numbers = 0
  /// The sum of all dates of issues in whole seconds, and estimates in quarters of an hour.
  var times = 0

  mutating func add(
    uuid: UUID, number: Int, title: String, body: String, status: String, priority: Int, created: Date,
    estimate: Double?
  ) {
    issues += 1
    textBytes += title.utf8.count + body.utf8.count + status.utf8.count
    numbers += number + priority + Int(uuid.uuid.0)
    times += Int(created.timeIntervalSinceReferenceDate) + Int((estimate ?? 0) * 4)
  }

  mutating func add(commentOf author: String, text: String) {
    comments += 1
    textBytes += author.utf8.count + text.utf8.count
  }
}

extension Tracker {
  var content: TrackerContent {
    var content = TrackerContent(
      projects: projects.count, labels: labels.count, labellings: issues.reduce(0) { $0 + $1.labels.count })
    for issue in issues {
      content.add(
        uuid: issue.uuid, number: issue.number, title: issue.title, body: issue.body, status: issue.status,
        priority: issue.priority, created: issue.created, estimate: issue.estimate)
    }
    for comment in comments { content.add(commentOf: comment.author, text: comment.text) }
    return content
  }
}

import Comparing
import Foundation

/// An issue tracker, the same in every run. Issues are numbered in the order of their dates, but for a tenth, which
/// came from elsewhere and are as old as any.
struct Tracker {
  /// An issue; it refers to other objects by their positions.
  struct Issue {
    let uuid: UUID
    let number: Int
    let title: String
    let body: String
    let status: String
    let priority: Int
    /// No two issues have the same.
    let created: Date
    let estimate: Double?
    let project: Int
    let labels: Set<Int>
    let comments: Range<Int>
  }

  struct Comment {
    let text: String
    let author: String
    let created: Date
  }

  static let highPriority = 7

  private(set) var projects: [String] = []
  private(set) var labels: [String] = []
  private(set) var issues: [Issue] = []
  private(set) var comments: [Comment] = []

  init(issues count: Int) {
    var random = SplitMix()
    projects = (0..<count / 100).map { "\(random.word()) \(random.word()) \($0)" }
    labels = (0..<50).map { "\(random.word())\($0)" }
    for number in 0..<count {
      let created = Self.date(number, of: count, &random)
      let first = comments.count
      for _ in 0..<Int.random(in: 0...5, using: &random) { comments.append(Comment(after: created, &random)) }
      issues.append(Issue(number, self, created: created, comments: first..<comments.count, &random))
    }
  }

  private static func date(_ number: Int, of count: Int, _ random: inout SplitMix) -> Date {
    let isFromElsewhere = Int.random(in: 0..<10, using: &random) == 0
    let minute = isFromElsewhere ? Int.random(in: 0..<count, using: &random) : number
    let distinction = Double(number % (1 << 20)) / Double(1 << 20)
    return Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(minute * 60) + distinction)
  }

  /// The issues, so that a save of some of them with their comments is a save of a thousand objects at most.
  var batches: [Range<Int>] {
    var batches: [Range<Int>] = []
    var (start, objects) = (0, 0)
    for (position, issue) in issues.enumerated() {
      if objects + 1 + issue.comments.count > objectsPerSave {
        batches.append(start..<position)
        (start, objects) = (position, 0)
      }
      objects += 1 + issue.comments.count
    }
    return batches + [start..<issues.count]
  }
}

extension Tracker.Issue {
  fileprivate init(
    _ number: Int, _ tracker: Tracker, created: Date, comments: Range<Int>, _ random: inout SplitMix
  ) {
    self.number = number
    self.created = created
    self.comments = comments
    uuid = UUID(random: &random)
    title = (0..<5).map { _ in random.word() }.joined(separator: " ")
    body = random.text(length: 100)
    status = Self.status(Int.random(in: 0..<100, using: &random))
    priority = random.small(below: 10)
    estimate = Bool.random(using: &random) ? Double(random.small(below: 160)) / 4 : nil
    project = Int.random(in: tracker.projects.indices, using: &random)
    labels = Set((0..<Int.random(in: 0...3, using: &random)).map { _ in random.small(below: tracker.labels.count) })
  }

  private static func status(_ percent: Int) -> String {
    switch percent {
    case ..<5: "open"
    case ..<10: "waiting"
    case ..<20: "duplicate"
    case ..<35: "rejected"
    default: "done"
    }
  }
}

extension Tracker.Comment {
  fileprivate init(after date: Date, _ random: inout SplitMix) {
    text = random.text(length: 20 + random.small(below: 200))
    author = "\(random.word()) \(random.word())"
    created = date + Double(random.small(below: 1_000_000))
  }
}

extension SplitMix {
  /// Words, about as long in all.
  fileprivate mutating func text(length: Int) -> String {
    var text = word()
    while text.utf8.count < length - 3 { text += " " + word() }
    return text
  }
}

extension UUID {
  fileprivate init(random: inout SplitMix) {
    self.init(uuid: unsafeBitCast((random.next(), random.next()), to: uuid_t.self))
  }
}

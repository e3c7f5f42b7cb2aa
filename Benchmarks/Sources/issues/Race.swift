import Comparing

extension Round<IssueFigure, any IssueContender> {
  /// Both sides store the same tracker and do all tasks.
  mutating func run(_ tracker: Tracker, _ samples: Samples) throws {
    for side in contenders { try side.open() }
    try time(.imported) { try $0.insert(tracker) }
    note(.disk, bytes: try each { try $0.closedBytes() })
    for side in contenders {
      try side.open()
      side.resolveIdentifiers()
    }
    try compare(with: tracker.content) { try $0.content() }

    try time(.commentCounts) { try $0.countComments(of: samples.counted) }
    try time(.byUUID) { try $0.fetch(uuids: samples.uuids) }
    try time(.ofProjects) { try $0.fetch(ofProjects: samples.projects) }
    try time(.newestOpen) { try $0.fetchNewestOpen(50, times: 20) }
    try time(.pages) { try $0.fetch(pages: 20, of: 100) }
    try time(.joined) { try $0.fetch(ofProjectsNamed: samples.projectNames) }
    try time(.labelled) { try $0.count(withLabelsNamed: samples.labelNames) }
    try time(.openCounted) { try $0.countOpen(times: 20) }
    try time(.statuses) { try $0.countStatuses(times: 5) }
    try time(.ranges) { try $0.fetch(created: samples.dates) }
    try time(.scanned) { try $0.scan(priorityAbove: Tracker.highPriority) }
    try time(.counted) { try $0.count(priorityAbove: Tracker.highPriority) }
    try time(.grouped) { try $0.groupByPriority() }
    try time(.identifiers) { try $0.identifiers() }
    try time(.changed) { try $0.change(samples.changed) }
    try time(.deleted) { try $0.delete(samples.deleted) }
    try compare { try $0.content() }

    for side in contenders { try side.compact() }
    note(.diskCompacted, bytes: try each { try $0.closedBytes() })
  }
}

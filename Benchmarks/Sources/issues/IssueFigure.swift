import Comparing

enum IssueFigure: String, Figure {
  case imported = "imported, 1,000 objects a save"
  case disk = "on disk, closed after the import"
  case commentCounts = "1,000 counts of an issue's comments"
  case byUUID = "1,000 issues by UUID, a request each"
  case ofProjects = "200 fetches of a project's issues"
  case newestOpen = "the newest 50 open, 20 times"
  case pages = "20 pages of 100, by date"
  case joined = "50 fetches by the project's name"
  case labelled = "5 counts by a label's name"
  case openCounted = "20 counts of the open, by an index"
  case statuses = "5 counts of each status, by an index"
  case ranges = "5 ranges of dates, of 1,000"
  case scanned = "scanned, an attribute without an index"
  case counted = "counted by the same"
  case grouped = "grouped by the same, with sums"
  case identifiers = "the identifiers of all issues"
  case changed = "1,000 changed, in one save"
  case deleted = "1,000 deleted with their comments"
  case diskCompacted = "on disk, compacted"

  var unit: String {
    switch self {
    case .disk, .diskCompacted: "MiB"
    default: "ms"
    }
  }

  var mark: Double? {
    switch self {
    case .changed, .diskCompacted: 1
    case .disk, .commentCounts, .byUUID, .ofProjects, .newestOpen, .pages, .joined, .labelled, .openCounted,
      .statuses, .ranges:
      1.5
    case .scanned, .counted, .grouped, .deleted: 2
    case .imported: 2.5
    case .identifiers: nil
    }
  }
}

import Comparing
import Foundation

/// What the tasks ask for, the same in each round. Objects are identified by their positions in the tracker.
struct Samples {
  let counted: [Int]
  let uuids: [UUID]
  let projects: [Int]
  let projectNames: [String]
  let labelNames: [String]
  let dates: [Range<Date>]
  let changed: [Int]
  let deleted: [Int]

  init(of tracker: Tracker) {
    var random = SplitMix()
    func some(_ count: Int, of all: Range<Int>) -> [Int] { Array(all.shuffled(using: &random).prefix(count)) }
    let issues = tracker.issues
    counted = some(1000, of: issues.indices)
    uuids = some(1000, of: issues.indices).map { issues[$0].uuid }
    projects = some(200, of: tracker.projects.indices)
    projectNames = some(50, of: tracker.projects.indices).map { tracker.projects[$0] }
    labelNames = some(5, of: tracker.labels.indices).map { tracker.labels[$0] }
    let sorted = issues.map(\.created).sorted()
    dates = some(5, of: 0..<sorted.count - 1000).map { sorted[$0]..<sorted[$0 + 1000] }
    changed = some(1000, of: issues.indices)
    deleted = some(1000, of: issues.indices)
  }
}

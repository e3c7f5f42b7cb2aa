import Foundation

/// A bug in the form that the file keeps.
struct StoredBug {
  let bugID: String
  var title: String
  /// 1 when the bug is first saved, and 1 more after every later save.
  var version: UInt64 = 1

  init(_ bug: Bug) {
    bugID = bug.bugID!
    title = bug.title!
  }

  init(_ propertyList: [String: Any]) throws {
    guard let bugID = propertyList["bugID"] as? String, let title = propertyList["title"] as? String,
      let version = propertyList["version"] as? UInt64
    else { throw CocoaError(.fileReadCorruptFile) }
    self.bugID = bugID
    self.title = title
    self.version = version
  }

  var propertyList: [String: Any] { ["bugID": bugID, "title": title, "version": version] }

  /// The attributes of the bug, by name.
  var values: [String: Any] { ["bugID": bugID, "title": title] }
}

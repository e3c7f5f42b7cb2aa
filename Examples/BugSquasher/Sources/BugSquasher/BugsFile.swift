import Foundation

/// The contents of `bugs.txt`: a property list of the store's metadata and of the bugs, the oldest first.
struct BugsFile {
  var metadata: [String: Any] = [:]
  var bugs: [StoredBug] = []
}

extension BugsFile {
  init(at url: URL) throws {
    let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
    guard let list = list as? [String: Any], let metadata = list["metadata"] as? [String: Any],
      let bugs = list["bugs"] as? [[String: Any]]
    else { throw CocoaError(.fileReadCorruptFile) }
    self.metadata = metadata
    self.bugs = try bugs.map { try StoredBug($0) }
  }

  /// Whether there is such a file. An empty file marks the place of a store that is still to be created.
  static func exists(at url: URL) -> Bool {
    let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
    return size.map { $0 != 0 } ?? false
  }

  func write(to url: URL) throws {
    let list: [String: Any] = ["metadata": metadata, "bugs": bugs.map(\.propertyList)]
    try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0).write(
      to: url, options: .atomic)
  }
}

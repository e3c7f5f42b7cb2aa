import Foundation

/// All rows by number, in a file. The file stands for any source of data that a store may use: a database, a web
/// service.
struct Table {
  var metadata: [String: Any] = [:]
  var rows: [Int: Row] = [:]
  /// The last number given out. No number is given out twice.
  var lastNumber = 0
}

extension Table {
  init(contentsOf url: URL) throws {
    let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
    guard let list = list as? [String: Any], let metadata = list["metadata"] as? [String: Any],
      let rows = list["rows"] as? [String: [String: Any]], let lastNumber = list["lastNumber"] as? Int
    else { throw CocoaError(.fileReadCorruptFile) }
    self.metadata = metadata
    self.lastNumber = lastNumber
    for (text, row) in rows {
      guard let number = Int(text) else { throw CocoaError(.fileReadCorruptFile) }
      self.rows[number] = try Row(row)
    }
  }

  /// Whether there is such a file. An empty file marks the place of a store that is still to be created.
  static func exists(at url: URL) -> Bool {
    let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
    return size.map { $0 != 0 } ?? false
  }

  func write(to url: URL) throws {
    let rows = Dictionary(uniqueKeysWithValues: rows.map { ("\($0)", $1.propertyList) })
    let list: [String: Any] = ["metadata": metadata, "rows": rows, "lastNumber": lastNumber]
    try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0).write(
      to: url, options: .atomic)
  }
}

import Foundation

/// An object as the store keeps it.
struct Row {
  let entityName: String
  /// 1 when the object is saved for the first time, and 1 more at every later save.
  var version: UInt64 = 1
  /// The attributes; of a to-one relationship the number of the row it leads to, of a to-many relationship the numbers.
  var values: [String: Any] = [:]
}

extension Row {
  init(_ propertyList: [String: Any]) throws {
    guard let entityName = propertyList["entity"] as? String, let version = propertyList["version"] as? UInt64,
      let values = propertyList["values"] as? [String: Any]
    else { throw CocoaError(.fileReadCorruptFile) }
    self.init(entityName: entityName, version: version, values: values)
  }

  var propertyList: [String: Any] { ["entity": entityName, "version": version, "values": values] }
}

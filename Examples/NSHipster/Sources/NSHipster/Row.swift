import Foundation

/// An object in the form that the store keeps.
struct Row {
  let entityName: String
  /// 1 when the object is first saved, and 1 more after every later save.
  var version: UInt64 = 1
  /// The attributes; for a to-one relationship the number of the other object's row, for a to-many relationship the
  /// numbers of its members' rows.
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

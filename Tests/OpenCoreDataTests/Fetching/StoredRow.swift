@testable import OpenCoreData

/// An object as a store keeps it: its identifier, and its values by key.
final class StoredRow: NSObject, KeyValueCoding, Identified {
  let id: ItemID
  var values: [String: Any]

  init(_ number: Int, _ values: [String: Any]) {
    id = ItemID(number)
    self.values = values
  }

  var predicateIdentity: AnyHashable { id }

  func value(forKey key: String) -> Any? { values[key] }
}

@testable import OpenCoreData

/// The identifier of an item, as an object ID is that of a managed object.
class ItemID: NSObject {
  private let number: Int

  init(_ number: Int) { self.number = number }

  override func isEqual(_ object: Any?) -> Bool { (object as? ItemID)?.number == number }

  override var hash: Int { number }
}

/// The identifier of an item that has not been saved: it says itself that it equals the identifier that replaces it.
final class TemporaryItemID: ItemID {}

final class Item: NSObject, KeyValueCoding, Identified {
  let id: ItemID

  init(id: Int) { self.id = ItemID(id) }

  var predicateIdentity: AnyHashable { id }

  func value(forKey key: String) -> Any? { key == "id" ? id : nil }
}

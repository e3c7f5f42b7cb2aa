import CoreData

/// What generated classes need of a managed object, with values in a dictionary, until OpenCoreData has the class itself.
class NSManagedObject: NSObject, NSFetchRequestResult {
  private var values: [String: Any] = [:]

  func value(forKey key: String) -> Any? { values[key] }

  func setValue(_ value: Any?, forKey key: String) { values[key] = value }

  func mutableSetValue(forKey key: String) -> NSMutableSet {
    let members = (values[key] as? NSMutableSet) ?? NSMutableSet()
    values[key] = members
    return members
  }

  func mutableOrderedSetValue(forKey key: String) -> NSMutableOrderedSet {
    let members = (values[key] as? NSMutableOrderedSet) ?? NSMutableOrderedSet()
    values[key] = members
    return members
  }
}

/// The entity says Category/Extension: the class itself is written by hand.
class Magazine: Publication {}

import Foundation

/// What a store has answered to a fetch request. Arrays of objects and of identifiers stay what they are, since a
/// conversion looks at each element.
enum StoreAnswer {
  case objects([NSManagedObject])
  case ids([NSManagedObjectID])
  case others([Any])

  /// Nil if the answer is no array.
  init?(_ answer: Any) {
    // A cast of an array of anything to an array of objects looks at elements until one does not fit, and is slow.
    if type(of: answer) == [Any].self, let others = answer as? [Any], let first = others.first, first is NSNumber {
      self = .others(others)
    } else if let objects = answer as? [NSManagedObject] {
      self = .objects(objects)
    } else if let ids = answer as? [NSManagedObjectID] {
      self = .ids(ids)
    } else if let others = answer as? [Any] {
      self = .others(others)
    } else if let array = answer as? NSArray {
      self = .others(array.map { $0 })
    } else {
      return nil
    }
  }

  /// Nil if it has anything but objects.
  var objects: [NSManagedObject]? {
    if case .objects(let objects) = self { objects } else { elements as? [NSManagedObject] }
  }

  var elements: [Any] {
    switch self {
    case .objects(let objects): objects
    case .ids(let ids): ids
    case .others(let others): others
    }
  }
}

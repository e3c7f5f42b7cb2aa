import Foundation

extension NSManagedObjectContext {
  /// Reads the rows of all objects along key paths: for each relationship of a path, those of all objects together.
  ///
  /// - Throws: any error of a store.
  func prefetch(_ paths: [String], of objects: [NSManagedObject]) throws {
    for path in paths {
      var objects = objects
      for key in path.split(separator: ".") {
        try realise(together: objects)
        objects = related(String(key), of: objects)
        try realise(together: objects)
      }
    }
  }

  /// The objects at the other end of a relationship, each once.
  private func related(_ key: String, of objects: [NSManagedObject]) -> [NSManagedObject] {
    var related = ObjectList()
    for object in objects {
      switch object.value(forKey: key) {
      case let one as NSManagedObject: related.append(one)
      case let set as NSSet: for case let each as NSManagedObject in set { related.append(each) }
      case let set as NSOrderedSet: for case let each as NSManagedObject in set { related.append(each) }
      default: break
      }
    }
    return related.elements
  }
}

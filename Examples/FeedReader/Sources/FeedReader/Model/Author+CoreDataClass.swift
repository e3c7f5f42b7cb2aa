// Written by modelgen for the entity Author. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Author)
#endif
class Author: NSManagedObject {}

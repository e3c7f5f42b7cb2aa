// Written by modelgen for the entity Article. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Article)
#endif
class Article: NSManagedObject {}

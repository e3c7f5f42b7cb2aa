// Written by modelgen for the entity Feed. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Feed)
#endif
class Feed: NSManagedObject {}

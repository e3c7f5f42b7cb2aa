// Written by modelgen for the entity Entry. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(DIEntry)
#endif
class DIEntry: NSManagedObject {}

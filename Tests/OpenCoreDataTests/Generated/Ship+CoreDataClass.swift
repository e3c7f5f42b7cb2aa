// Written by modelgen for the entity Ship. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Ship)
#endif
class Ship: NSManagedObject {}

// Written by modelgen for the entity User. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(User)
#endif
class User: NSManagedObject {}

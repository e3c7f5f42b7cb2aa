// Written by modelgen for the entity Version. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Version)
#endif
class Version: NSManagedObject {}

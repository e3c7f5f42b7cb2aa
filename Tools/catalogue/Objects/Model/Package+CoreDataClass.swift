// Written by modelgen for the entity Package. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Package)
#endif
class Package: NSManagedObject {}

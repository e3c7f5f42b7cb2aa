// Written by modelgen for the entity Sailor. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Sailor)
#endif
class Sailor: NSManagedObject {}

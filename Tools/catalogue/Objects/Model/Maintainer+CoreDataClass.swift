// Written by modelgen for the entity Maintainer. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Maintainer)
#endif
class Maintainer: NSManagedObject {}

// Written by modelgen for the entity Section. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Section)
#endif
class Section: NSManagedObject {}

// Written by modelgen for the entity Measure. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Measure)
#endif
class Measure: NSManagedObject {}

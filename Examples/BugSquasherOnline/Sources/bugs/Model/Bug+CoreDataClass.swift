// Written by modelgen for the entity Bug. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Bug)
#endif
class Bug: NSManagedObject {}

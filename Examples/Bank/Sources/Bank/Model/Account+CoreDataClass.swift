// Written by modelgen for the entity Account. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Account)
#endif
class Account: NSManagedObject {}

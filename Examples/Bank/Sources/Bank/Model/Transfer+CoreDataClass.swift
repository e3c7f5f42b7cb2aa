// Written by modelgen for the entity Transfer. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Transfer)
#endif
class Transfer: NSManagedObject {}

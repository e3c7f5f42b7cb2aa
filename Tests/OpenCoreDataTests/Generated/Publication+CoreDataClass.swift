// Written by modelgen for the entity Publication. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Publication)
#endif
class Publication: NSManagedObject {}

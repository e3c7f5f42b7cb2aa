// Written by modelgen for the entity Reader. Changes will be lost.
// swift-format-ignore-file

import CoreData

#if canImport(Darwin)
  @objc(Reader)
#endif
class Reader: NSManagedObject {}

// Written by modelgen for the entity Magazine. Changes will be lost.
// swift-format-ignore-file

import CoreData

extension Magazine {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Magazine> {
    NSFetchRequest<Magazine>(entityName: "Magazine")
  }
}

#if canImport(Darwin)
  extension Magazine {
    @NSManaged var issue: Int16
    @NSManaged var weight: Float
  }
#else
  extension Magazine {
    var issue: Int16 {
      get { attributeValue(forKey: "issue") ?? 0 }
      set { setAttributeValue(newValue, forKey: "issue") }
    }
    var weight: Float {
      get { attributeValue(forKey: "weight") ?? 0 }
      set { setAttributeValue(newValue, forKey: "weight") }
    }
  }
#endif

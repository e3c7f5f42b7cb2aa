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
      get { (value(forKey: "issue") as! NSNumber?)?.int16Value ?? 0 }
      set { setValue(newValue, forKey: "issue") }
    }
    var weight: Float {
      get { (value(forKey: "weight") as! NSNumber?)?.floatValue ?? 0 }
      set { setValue(newValue, forKey: "weight") }
    }
  }
#endif

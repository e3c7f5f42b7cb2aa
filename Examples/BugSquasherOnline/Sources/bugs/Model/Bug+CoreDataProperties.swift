// Written by modelgen for the entity Bug. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Bug {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Bug> {
    NSFetchRequest<Bug>(entityName: "Bug")
  }
}

#if canImport(Darwin)
  extension Bug {
    @NSManaged var created: Date?
    @NSManaged var number: NSNumber?
    @NSManaged var state: String?
    @NSManaged var title: String?
    @NSManaged var assignee: User?
  }
#else
  extension Bug {
    var created: Date? {
      get { attributeValue(forKey: "created") }
      set { setAttributeValue(newValue, forKey: "created") }
    }
    var number: NSNumber? {
      get { value(forKey: "number") as! NSNumber? }
      set { setValue(newValue, forKey: "number") }
    }
    var state: String? {
      get { attributeValue(forKey: "state") }
      set { setAttributeValue(newValue, forKey: "state") }
    }
    var title: String? {
      get { attributeValue(forKey: "title") }
      set { setAttributeValue(newValue, forKey: "title") }
    }
    var assignee: User? {
      get { relatedObject(forKey: "assignee") as! User? }
      set { setRelatedObject(newValue, forKey: "assignee") }
    }
  }

  extension Bug: Observable {}
#endif

extension Bug: Identifiable {}

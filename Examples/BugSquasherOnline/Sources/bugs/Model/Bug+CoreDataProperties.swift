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
      get { value(forKey: "created") as! Date? }
      set { setValue(newValue, forKey: "created") }
    }
    var number: NSNumber? {
      get { value(forKey: "number") as! NSNumber? }
      set { setValue(newValue, forKey: "number") }
    }
    var state: String? {
      get { value(forKey: "state") as! String? }
      set { setValue(newValue, forKey: "state") }
    }
    var title: String? {
      get { value(forKey: "title") as! String? }
      set { setValue(newValue, forKey: "title") }
    }
    var assignee: User? {
      get { value(forKey: "assignee") as! User? }
      set { setValue(newValue, forKey: "assignee") }
    }
  }

  extension Bug: Observable {}
#endif

extension Bug: Identifiable {}

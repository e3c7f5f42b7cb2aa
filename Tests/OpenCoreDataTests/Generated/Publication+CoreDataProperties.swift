// Written by modelgen for the entity Publication. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Publication {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Publication> {
    NSFetchRequest<Publication>(entityName: "Publication")
  }
}

#if canImport(Darwin)
  extension Publication {
    @NSManaged var keywords: [String]?
    @NSManaged var published: Date?
    @NSManaged var rating: NSNumber?
    @NSManaged var scratch: NSObject?
    @NSManaged var title: String?
  }
#else
  extension Publication {
    var keywords: [String]? {
      get { value(forKey: "keywords") as! [String]? }
      set { setValue(newValue, forKey: "keywords") }
    }
    var published: Date? {
      get { attributeValue(forKey: "published") }
      set { setAttributeValue(newValue, forKey: "published") }
    }
    var rating: NSNumber? {
      get { value(forKey: "rating") as! NSNumber? }
      set { setValue(newValue, forKey: "rating") }
    }
    var scratch: NSObject? {
      get { value(forKey: "scratch") as! NSObject? }
      set { setValue(newValue, forKey: "scratch") }
    }
    var title: String? {
      get { attributeValue(forKey: "title") }
      set { setAttributeValue(newValue, forKey: "title") }
    }
  }

  extension Publication: Observable {}
#endif

extension Publication: Identifiable {}

// Written by modelgen for the entity Article. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Article {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Article> {
    NSFetchRequest<Article>(entityName: "Article")
  }
}

#if canImport(Darwin)
  extension Article {
    @NSManaged var title: String?
    @NSManaged var rating: Double
    @NSManaged var author: Author?
  }
#else
  extension Article {
    var title: String? {
      get { value(forKey: "title") as! String? }
      set { setValue(newValue, forKey: "title") }
    }
    var rating: Double {
      get { (value(forKey: "rating") as! NSNumber?)?.doubleValue ?? 0 }
      set { setValue(newValue, forKey: "rating") }
    }
    var author: Author? {
      get { value(forKey: "author") as! Author? }
      set { setValue(newValue, forKey: "author") }
    }
  }

  extension Article: Observable {}
#endif

extension Article: Identifiable {}

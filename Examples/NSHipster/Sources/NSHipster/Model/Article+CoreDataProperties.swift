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
      get { attributeValue(forKey: "title") }
      set { setAttributeValue(newValue, forKey: "title") }
    }
    var rating: Double {
      get { attributeValue(forKey: "rating") ?? 0 }
      set { setAttributeValue(newValue, forKey: "rating") }
    }
    var author: Author? {
      get { relatedObject(forKey: "author") as! Author? }
      set { setRelatedObject(newValue, forKey: "author") }
    }
  }

  extension Article: Observable {}
#endif

extension Article: Identifiable {}

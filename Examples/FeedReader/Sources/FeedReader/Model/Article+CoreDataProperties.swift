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
    @NSManaged var guid: String?
    @NSManaged var published: Date?
    @NSManaged var readAt: Date?
    @NSManaged var searchTitle: String?
    @NSManaged var starredAt: Date?
    @NSManaged var title: String?
    @NSManaged var author: Author?
    @NSManaged var feed: Feed?
  }
#else
  extension Article {
    var guid: String? {
      get { attributeValue(forKey: "guid") }
      set { setAttributeValue(newValue, forKey: "guid") }
    }
    var published: Date? {
      get { attributeValue(forKey: "published") }
      set { setAttributeValue(newValue, forKey: "published") }
    }
    var readAt: Date? {
      get { attributeValue(forKey: "readAt") }
      set { setAttributeValue(newValue, forKey: "readAt") }
    }
    var searchTitle: String? {
      get { attributeValue(forKey: "searchTitle") }
      set { setAttributeValue(newValue, forKey: "searchTitle") }
    }
    var starredAt: Date? {
      get { attributeValue(forKey: "starredAt") }
      set { setAttributeValue(newValue, forKey: "starredAt") }
    }
    var title: String? {
      get { attributeValue(forKey: "title") }
      set { setAttributeValue(newValue, forKey: "title") }
    }
    var author: Author? {
      get { relatedObject(forKey: "author") as! Author? }
      set { setRelatedObject(newValue, forKey: "author") }
    }
    var feed: Feed? {
      get { relatedObject(forKey: "feed") as! Feed? }
      set { setRelatedObject(newValue, forKey: "feed") }
    }
  }

  extension Article: Observable {}
#endif

extension Article: Identifiable {}

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
      get { value(forKey: "guid") as! String? }
      set { setValue(newValue, forKey: "guid") }
    }
    var published: Date? {
      get { value(forKey: "published") as! Date? }
      set { setValue(newValue, forKey: "published") }
    }
    var readAt: Date? {
      get { value(forKey: "readAt") as! Date? }
      set { setValue(newValue, forKey: "readAt") }
    }
    var searchTitle: String? {
      get { value(forKey: "searchTitle") as! String? }
      set { setValue(newValue, forKey: "searchTitle") }
    }
    var starredAt: Date? {
      get { value(forKey: "starredAt") as! Date? }
      set { setValue(newValue, forKey: "starredAt") }
    }
    var title: String? {
      get { value(forKey: "title") as! String? }
      set { setValue(newValue, forKey: "title") }
    }
    var author: Author? {
      get { value(forKey: "author") as! Author? }
      set { setValue(newValue, forKey: "author") }
    }
    var feed: Feed? {
      get { value(forKey: "feed") as! Feed? }
      set { setValue(newValue, forKey: "feed") }
    }
  }

  extension Article: Observable {}
#endif

extension Article: Identifiable {}

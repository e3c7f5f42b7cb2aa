// Written by modelgen for the entity Feed. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Feed {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Feed> {
    NSFetchRequest<Feed>(entityName: "Feed")
  }
}

#if canImport(Darwin)
  extension Feed {
    @NSManaged var title: String?
    @NSManaged var url: String?
    @NSManaged var articles: NSSet?
    @objc(addArticlesObject:)
    @NSManaged func addToArticles(_ value: Article)
    @objc(removeArticlesObject:)
    @NSManaged func removeFromArticles(_ value: Article)
    @objc(addArticles:)
    @NSManaged func addToArticles(_ values: NSSet)
    @objc(removeArticles:)
    @NSManaged func removeFromArticles(_ values: NSSet)
  }
#else
  extension Feed {
    var title: String? {
      get { attributeValue(forKey: "title") }
      set { setAttributeValue(newValue, forKey: "title") }
    }
    var url: String? {
      get { attributeValue(forKey: "url") }
      set { setAttributeValue(newValue, forKey: "url") }
    }
    var articles: NSSet? {
      get { value(forKey: "articles") as! NSSet? }
      set { setValue(newValue, forKey: "articles") }
    }
    func addToArticles(_ value: Article) { mutableSetValue(forKey: "articles").add(value) }
    func removeFromArticles(_ value: Article) { mutableSetValue(forKey: "articles").remove(value) }
    func addToArticles(_ values: NSSet) { mutableSetValue(forKey: "articles").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromArticles(_ values: NSSet) { mutableSetValue(forKey: "articles").minus(Set(values.allObjects as! [NSManagedObject])) }
  }

  extension Feed: Observable {}
#endif

extension Feed: Identifiable {}

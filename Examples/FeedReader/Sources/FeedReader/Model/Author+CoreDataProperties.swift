// Written by modelgen for the entity Author. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Author {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Author> {
    NSFetchRequest<Author>(entityName: "Author")
  }
}

#if canImport(Darwin)
  extension Author {
    @NSManaged var name: String?
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
  extension Author {
    var name: String? {
      get { attributeValue(forKey: "name") }
      set { setAttributeValue(newValue, forKey: "name") }
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

  extension Author: Observable {}
#endif

extension Author: Identifiable {}

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
    @NSManaged var articles: NSOrderedSet?
    @objc(insertObject:inArticlesAtIndex:)
    @NSManaged func insertIntoArticles(_ value: Article, at idx: Int)
    @objc(removeObjectFromArticlesAtIndex:)
    @NSManaged func removeFromArticles(at idx: Int)
    @objc(insertArticles:atIndexes:)
    @NSManaged func insertIntoArticles(_ values: [Article], at indexes: NSIndexSet)
    @objc(removeArticlesAtIndexes:)
    @NSManaged func removeFromArticles(at indexes: NSIndexSet)
    @objc(replaceObjectInArticlesAtIndex:withObject:)
    @NSManaged func replaceArticles(at idx: Int, with value: Article)
    @objc(replaceArticlesAtIndexes:withArticles:)
    @NSManaged func replaceArticles(at indexes: NSIndexSet, with values: [Article])
    @objc(addArticlesObject:)
    @NSManaged func addToArticles(_ value: Article)
    @objc(removeArticlesObject:)
    @NSManaged func removeFromArticles(_ value: Article)
    @objc(addArticles:)
    @NSManaged func addToArticles(_ values: NSOrderedSet)
    @objc(removeArticles:)
    @NSManaged func removeFromArticles(_ values: NSOrderedSet)
  }
#else
  extension Author {
    var name: String? {
      get { attributeValue(forKey: "name") }
      set { setAttributeValue(newValue, forKey: "name") }
    }
    var articles: NSOrderedSet? {
      get { value(forKey: "articles") as! NSOrderedSet? }
      set { setValue(newValue, forKey: "articles") }
    }
    func insertIntoArticles(_ value: Article, at idx: Int) { mutableOrderedSetValue(forKey: "articles").insert(value, at: idx) }
    func removeFromArticles(at idx: Int) { mutableOrderedSetValue(forKey: "articles").removeObject(at: idx) }
    func insertIntoArticles(_ values: [Article], at indexes: NSIndexSet) { mutableOrderedSetValue(forKey: "articles").insert(values, at: indexes as IndexSet) }
    func removeFromArticles(at indexes: NSIndexSet) { mutableOrderedSetValue(forKey: "articles").removeObjects(at: indexes as IndexSet) }
    func replaceArticles(at idx: Int, with value: Article) { mutableOrderedSetValue(forKey: "articles").replaceObject(at: idx, with: value) }
    func replaceArticles(at indexes: NSIndexSet, with values: [Article]) { mutableOrderedSetValue(forKey: "articles").replaceObjects(at: indexes as IndexSet, with: values) }
    func addToArticles(_ value: Article) { mutableSetValue(forKey: "articles").add(value) }
    func removeFromArticles(_ value: Article) { mutableSetValue(forKey: "articles").remove(value) }
    func addToArticles(_ values: NSOrderedSet) { mutableOrderedSetValue(forKey: "articles").union(values) }
    func removeFromArticles(_ values: NSOrderedSet) { mutableOrderedSetValue(forKey: "articles").minus(values) }
  }

  extension Author: Observable {}
#endif

extension Author: Identifiable {}

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
    @NSManaged var bookCount: Int64
    @NSManaged var homepage: URL?
    @NSManaged var id: UUID?
    @NSManaged var name: String?
    @NSManaged var searchName: String?
    @NSManaged var books: NSOrderedSet?
    @objc(insertObject:inBooksAtIndex:)
    @NSManaged func insertIntoBooks(_ value: Book, at idx: Int)
    @objc(removeObjectFromBooksAtIndex:)
    @NSManaged func removeFromBooks(at idx: Int)
    @objc(insertBooks:atIndexes:)
    @NSManaged func insertIntoBooks(_ values: [Book], at indexes: NSIndexSet)
    @objc(removeBooksAtIndexes:)
    @NSManaged func removeFromBooks(at indexes: NSIndexSet)
    @objc(replaceObjectInBooksAtIndex:withObject:)
    @NSManaged func replaceBooks(at idx: Int, with value: Book)
    @objc(replaceBooksAtIndexes:withBooks:)
    @NSManaged func replaceBooks(at indexes: NSIndexSet, with values: [Book])
    @objc(addBooksObject:)
    @NSManaged func addToBooks(_ value: Book)
    @objc(removeBooksObject:)
    @NSManaged func removeFromBooks(_ value: Book)
    @objc(addBooks:)
    @NSManaged func addToBooks(_ values: NSOrderedSet)
    @objc(removeBooks:)
    @NSManaged func removeFromBooks(_ values: NSOrderedSet)
    @NSManaged var longBooks: [Book]
  }
#else
  extension Author {
    var bookCount: Int64 {
      get { attributeValue(forKey: "bookCount") ?? 0 }
      set { setAttributeValue(newValue, forKey: "bookCount") }
    }
    var homepage: URL? {
      get { value(forKey: "homepage") as! URL? }
      set { setValue(newValue, forKey: "homepage") }
    }
    var id: UUID? {
      get { attributeValue(forKey: "id") }
      set { setAttributeValue(newValue, forKey: "id") }
    }
    var name: String? {
      get { attributeValue(forKey: "name") }
      set { setAttributeValue(newValue, forKey: "name") }
    }
    var searchName: String? {
      get { attributeValue(forKey: "searchName") }
      set { setAttributeValue(newValue, forKey: "searchName") }
    }
    var books: NSOrderedSet? {
      get { value(forKey: "books") as! NSOrderedSet? }
      set { setValue(newValue, forKey: "books") }
    }
    func insertIntoBooks(_ value: Book, at idx: Int) { mutableOrderedSetValue(forKey: "books").insert(value, at: idx) }
    func removeFromBooks(at idx: Int) { mutableOrderedSetValue(forKey: "books").removeObject(at: idx) }
    func insertIntoBooks(_ values: [Book], at indexes: NSIndexSet) { mutableOrderedSetValue(forKey: "books").insert(values, at: indexes as IndexSet) }
    func removeFromBooks(at indexes: NSIndexSet) { mutableOrderedSetValue(forKey: "books").removeObjects(at: indexes as IndexSet) }
    func replaceBooks(at idx: Int, with value: Book) { mutableOrderedSetValue(forKey: "books").replaceObject(at: idx, with: value) }
    func replaceBooks(at indexes: NSIndexSet, with values: [Book]) { mutableOrderedSetValue(forKey: "books").replaceObjects(at: indexes as IndexSet, with: values) }
    func addToBooks(_ value: Book) { mutableSetValue(forKey: "books").add(value) }
    func removeFromBooks(_ value: Book) { mutableSetValue(forKey: "books").remove(value) }
    func addToBooks(_ values: NSOrderedSet) { mutableOrderedSetValue(forKey: "books").union(values) }
    func removeFromBooks(_ values: NSOrderedSet) { mutableOrderedSetValue(forKey: "books").minus(values) }
    var longBooks: [Book] {
      (value(forKey: "longBooks") as! [Book]?) ?? []
    }
  }

  extension Author: Observable {}
#endif

extension Author: Identifiable {}

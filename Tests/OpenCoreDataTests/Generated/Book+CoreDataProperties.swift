// Written by modelgen for the entity Book. Changes will be lost.
// swift-format-ignore-file

import CoreData

extension Book {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Book> {
    NSFetchRequest<Book>(entityName: "Book")
  }
}

#if canImport(Darwin)
  extension Book {
    @NSManaged var cover: Data?
    @NSManaged var isLent: Bool
    @NSManaged var pages: Int32
    @NSManaged var price: NSDecimalNumber?
    @NSManaged var authors: NSSet?
    @objc(addAuthorsObject:)
    @NSManaged func addToAuthors(_ value: Author)
    @objc(removeAuthorsObject:)
    @NSManaged func removeFromAuthors(_ value: Author)
    @objc(addAuthors:)
    @NSManaged func addToAuthors(_ values: NSSet)
    @objc(removeAuthors:)
    @NSManaged func removeFromAuthors(_ values: NSSet)
    @NSManaged var readers: NSSet?
    @objc(addReadersObject:)
    @NSManaged func addToReaders(_ value: Reader)
    @objc(removeReadersObject:)
    @NSManaged func removeFromReaders(_ value: Reader)
    @objc(addReaders:)
    @NSManaged func addToReaders(_ values: NSSet)
    @objc(removeReaders:)
    @NSManaged func removeFromReaders(_ values: NSSet)
  }
#else
  extension Book {
    var cover: Data? {
      get { attributeValue(forKey: "cover") }
      set { setAttributeValue(newValue, forKey: "cover") }
    }
    var isLent: Bool {
      get { attributeValue(forKey: "isLent") ?? false }
      set { setAttributeValue(newValue, forKey: "isLent") }
    }
    var pages: Int32 {
      get { attributeValue(forKey: "pages") ?? 0 }
      set { setAttributeValue(newValue, forKey: "pages") }
    }
    var price: NSDecimalNumber? {
      get { value(forKey: "price") as! NSDecimalNumber? }
      set { setValue(newValue, forKey: "price") }
    }
    var authors: NSSet? {
      get { value(forKey: "authors") as! NSSet? }
      set { setValue(newValue, forKey: "authors") }
    }
    func addToAuthors(_ value: Author) { mutableSetValue(forKey: "authors").add(value) }
    func removeFromAuthors(_ value: Author) { mutableSetValue(forKey: "authors").remove(value) }
    func addToAuthors(_ values: NSSet) { mutableSetValue(forKey: "authors").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromAuthors(_ values: NSSet) { mutableSetValue(forKey: "authors").minus(Set(values.allObjects as! [NSManagedObject])) }
    var readers: NSSet? {
      get { value(forKey: "readers") as! NSSet? }
      set { setValue(newValue, forKey: "readers") }
    }
    func addToReaders(_ value: Reader) { mutableSetValue(forKey: "readers").add(value) }
    func removeFromReaders(_ value: Reader) { mutableSetValue(forKey: "readers").remove(value) }
    func addToReaders(_ values: NSSet) { mutableSetValue(forKey: "readers").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromReaders(_ values: NSSet) { mutableSetValue(forKey: "readers").minus(Set(values.allObjects as! [NSManagedObject])) }
  }
#endif

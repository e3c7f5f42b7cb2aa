// Written by modelgen for the entity Reader. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Reader {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Reader> {
    NSFetchRequest<Reader>(entityName: "Reader")
  }
}

#if canImport(Darwin)
  extension Reader {
    @NSManaged var address: [String: Any]?
    @NSManaged var changed: Date?
    @NSManaged var thumbprint: NSData?
    @NSManaged var books: NSSet?
    @objc(addBooksObject:)
    @NSManaged func addToBooks(_ value: Book)
    @objc(removeBooksObject:)
    @NSManaged func removeFromBooks(_ value: Book)
    @objc(addBooks:)
    @NSManaged func addToBooks(_ values: NSSet)
    @objc(removeBooks:)
    @NSManaged func removeFromBooks(_ values: NSSet)
    @NSManaged var guarantor: Reader?
  }
#else
  extension Reader {
    var address: [String: Any]? {
      get { value(forKey: "address") as! [String: Any]? }
      set { setValue(newValue, forKey: "address") }
    }
    var changed: Date? {
      get { attributeValue(forKey: "changed") }
      set { setAttributeValue(newValue, forKey: "changed") }
    }
    var thumbprint: NSData? {
      get { value(forKey: "thumbprint") as! NSData? }
      set { setValue(newValue, forKey: "thumbprint") }
    }
    var books: NSSet? {
      get { value(forKey: "books") as! NSSet? }
      set { setValue(newValue, forKey: "books") }
    }
    func addToBooks(_ value: Book) { mutableSetValue(forKey: "books").add(value) }
    func removeFromBooks(_ value: Book) { mutableSetValue(forKey: "books").remove(value) }
    func addToBooks(_ values: NSSet) { mutableSetValue(forKey: "books").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromBooks(_ values: NSSet) { mutableSetValue(forKey: "books").minus(Set(values.allObjects as! [NSManagedObject])) }
    var guarantor: Reader? {
      get { relatedObject(forKey: "guarantor") as! Reader? }
      set { setRelatedObject(newValue, forKey: "guarantor") }
    }
  }

  extension Reader: Observable {}
#endif

extension Reader: Identifiable {}

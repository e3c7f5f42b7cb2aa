// Written by modelgen for the entity Entry. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension DIEntry {
  @nonobjc class func fetchRequest() -> NSFetchRequest<DIEntry> {
    NSFetchRequest<DIEntry>(entityName: "Entry")
  }
}

#if canImport(Darwin)
  extension DIEntry {
    @NSManaged var date: Date?
    @NSManaged var mood: NSNumber?
    @NSManaged var photo: NSObject?
    @NSManaged var starred: NSNumber?
    @NSManaged var text: String?
    @NSManaged var followUp: DIEntry?
    @NSManaged var tags: NSSet?
    @objc(addTagsObject:)
    @NSManaged func addToTags(_ value: NSManagedObject)
    @objc(removeTagsObject:)
    @NSManaged func removeFromTags(_ value: NSManagedObject)
    @objc(addTags:)
    @NSManaged func addToTags(_ values: NSSet)
    @objc(removeTags:)
    @NSManaged func removeFromTags(_ values: NSSet)
  }
#else
  extension DIEntry {
    var date: Date? {
      get { attributeValue(forKey: "date") }
      set { setAttributeValue(newValue, forKey: "date") }
    }
    var mood: NSNumber? {
      get { value(forKey: "mood") as! NSNumber? }
      set { setValue(newValue, forKey: "mood") }
    }
    var photo: NSObject? {
      get { value(forKey: "photo") as! NSObject? }
      set { setValue(newValue, forKey: "photo") }
    }
    var starred: NSNumber? {
      get { value(forKey: "starred") as! NSNumber? }
      set { setValue(newValue, forKey: "starred") }
    }
    var text: String? {
      get { attributeValue(forKey: "text") }
      set { setAttributeValue(newValue, forKey: "text") }
    }
    var followUp: DIEntry? {
      get { relatedObject(forKey: "followUp") as! DIEntry? }
      set { setRelatedObject(newValue, forKey: "followUp") }
    }
    var tags: NSSet? {
      get { value(forKey: "tags") as! NSSet? }
      set { setValue(newValue, forKey: "tags") }
    }
    func addToTags(_ value: NSManagedObject) { mutableSetValue(forKey: "tags").add(value) }
    func removeFromTags(_ value: NSManagedObject) { mutableSetValue(forKey: "tags").remove(value) }
    func addToTags(_ values: NSSet) { mutableSetValue(forKey: "tags").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromTags(_ values: NSSet) { mutableSetValue(forKey: "tags").minus(Set(values.allObjects as! [NSManagedObject])) }
  }

  extension DIEntry: Observable {}
#endif

extension DIEntry: Identifiable {}

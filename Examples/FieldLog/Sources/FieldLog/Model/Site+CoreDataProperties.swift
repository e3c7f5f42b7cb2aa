// Written by modelgen for the entity Site. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Site {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Site> {
    NSFetchRequest<Site>(entityName: "Site")
  }
}

#if canImport(Darwin)
  extension Site {
    @NSManaged var name: String?
    @NSManaged var entries: NSSet?
    @objc(addEntriesObject:)
    @NSManaged func addToEntries(_ value: Entry)
    @objc(removeEntriesObject:)
    @NSManaged func removeFromEntries(_ value: Entry)
    @objc(addEntries:)
    @NSManaged func addToEntries(_ values: NSSet)
    @objc(removeEntries:)
    @NSManaged func removeFromEntries(_ values: NSSet)
  }
#else
  extension Site {
    var name: String? {
      get { attributeValue(forKey: "name") }
      set { setAttributeValue(newValue, forKey: "name") }
    }
    var entries: NSSet? {
      get { value(forKey: "entries") as! NSSet? }
      set { setValue(newValue, forKey: "entries") }
    }
    func addToEntries(_ value: Entry) { mutableSetValue(forKey: "entries").add(value) }
    func removeFromEntries(_ value: Entry) { mutableSetValue(forKey: "entries").remove(value) }
    func addToEntries(_ values: NSSet) { mutableSetValue(forKey: "entries").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromEntries(_ values: NSSet) { mutableSetValue(forKey: "entries").minus(Set(values.allObjects as! [NSManagedObject])) }
  }

  extension Site: Observable {}
#endif

extension Site: Identifiable {}

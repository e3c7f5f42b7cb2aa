// Written by modelgen for the entity Folder. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Folder {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Folder> {
    NSFetchRequest<Folder>(entityName: "Folder")
  }
}

#if canImport(Darwin)
  extension Folder {
    @NSManaged var name: String?
    @NSManaged var notes: NSSet?
    @objc(addNotesObject:)
    @NSManaged func addToNotes(_ value: Note)
    @objc(removeNotesObject:)
    @NSManaged func removeFromNotes(_ value: Note)
    @objc(addNotes:)
    @NSManaged func addToNotes(_ values: NSSet)
    @objc(removeNotes:)
    @NSManaged func removeFromNotes(_ values: NSSet)
  }
#else
  extension Folder {
    var name: String? {
      get { attributeValue(forKey: "name") }
      set { setAttributeValue(newValue, forKey: "name") }
    }
    var notes: NSSet? {
      get { value(forKey: "notes") as! NSSet? }
      set { setValue(newValue, forKey: "notes") }
    }
    func addToNotes(_ value: Note) { mutableSetValue(forKey: "notes").add(value) }
    func removeFromNotes(_ value: Note) { mutableSetValue(forKey: "notes").remove(value) }
    func addToNotes(_ values: NSSet) { mutableSetValue(forKey: "notes").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromNotes(_ values: NSSet) { mutableSetValue(forKey: "notes").minus(Set(values.allObjects as! [NSManagedObject])) }
  }

  extension Folder: Observable {}
#endif

extension Folder: Identifiable {}

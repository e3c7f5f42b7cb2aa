// Written by modelgen for the entity User. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension User {
  @nonobjc class func fetchRequest() -> NSFetchRequest<User> {
    NSFetchRequest<User>(entityName: "User")
  }
}

#if canImport(Darwin)
  extension User {
    @NSManaged var login: String?
    @NSManaged var name: String?
    @NSManaged var bugs: NSSet?
    @objc(addBugsObject:)
    @NSManaged func addToBugs(_ value: Bug)
    @objc(removeBugsObject:)
    @NSManaged func removeFromBugs(_ value: Bug)
    @objc(addBugs:)
    @NSManaged func addToBugs(_ values: NSSet)
    @objc(removeBugs:)
    @NSManaged func removeFromBugs(_ values: NSSet)
  }
#else
  extension User {
    var login: String? {
      get { attributeValue(forKey: "login") }
      set { setAttributeValue(newValue, forKey: "login") }
    }
    var name: String? {
      get { attributeValue(forKey: "name") }
      set { setAttributeValue(newValue, forKey: "name") }
    }
    var bugs: NSSet? {
      get { value(forKey: "bugs") as! NSSet? }
      set { setValue(newValue, forKey: "bugs") }
    }
    func addToBugs(_ value: Bug) { mutableSetValue(forKey: "bugs").add(value) }
    func removeFromBugs(_ value: Bug) { mutableSetValue(forKey: "bugs").remove(value) }
    func addToBugs(_ values: NSSet) { mutableSetValue(forKey: "bugs").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromBugs(_ values: NSSet) { mutableSetValue(forKey: "bugs").minus(Set(values.allObjects as! [NSManagedObject])) }
  }

  extension User: Observable {}
#endif

extension User: Identifiable {}

// Written by modelgen for the entity Package. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Package {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Package> {
    NSFetchRequest<Package>(entityName: "Package")
  }
}

#if canImport(Darwin)
  extension Package {
    @NSManaged var name: String?
    @NSManaged var dependents: NSSet?
    @objc(addDependentsObject:)
    @NSManaged func addToDependents(_ value: Version)
    @objc(removeDependentsObject:)
    @NSManaged func removeFromDependents(_ value: Version)
    @objc(addDependents:)
    @NSManaged func addToDependents(_ values: NSSet)
    @objc(removeDependents:)
    @NSManaged func removeFromDependents(_ values: NSSet)
    @NSManaged var versions: NSSet?
    @objc(addVersionsObject:)
    @NSManaged func addToVersions(_ value: Version)
    @objc(removeVersionsObject:)
    @NSManaged func removeFromVersions(_ value: Version)
    @objc(addVersions:)
    @NSManaged func addToVersions(_ values: NSSet)
    @objc(removeVersions:)
    @NSManaged func removeFromVersions(_ values: NSSet)
  }
#else
  extension Package {
    var name: String? {
      get { attributeValue(forKey: "name") }
      set { setAttributeValue(newValue, forKey: "name") }
    }
    var dependents: NSSet? {
      get { value(forKey: "dependents") as! NSSet? }
      set { setValue(newValue, forKey: "dependents") }
    }
    func addToDependents(_ value: Version) { mutableSetValue(forKey: "dependents").add(value) }
    func removeFromDependents(_ value: Version) { mutableSetValue(forKey: "dependents").remove(value) }
    func addToDependents(_ values: NSSet) { mutableSetValue(forKey: "dependents").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromDependents(_ values: NSSet) { mutableSetValue(forKey: "dependents").minus(Set(values.allObjects as! [NSManagedObject])) }
    var versions: NSSet? {
      get { value(forKey: "versions") as! NSSet? }
      set { setValue(newValue, forKey: "versions") }
    }
    func addToVersions(_ value: Version) { mutableSetValue(forKey: "versions").add(value) }
    func removeFromVersions(_ value: Version) { mutableSetValue(forKey: "versions").remove(value) }
    func addToVersions(_ values: NSSet) { mutableSetValue(forKey: "versions").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromVersions(_ values: NSSet) { mutableSetValue(forKey: "versions").minus(Set(values.allObjects as! [NSManagedObject])) }
  }

  extension Package: Observable {}
#endif

extension Package: Identifiable {}

// Written by modelgen for the entity Maintainer. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Maintainer {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Maintainer> {
    NSFetchRequest<Maintainer>(entityName: "Maintainer")
  }
}

#if canImport(Darwin)
  extension Maintainer {
    @NSManaged var email: String?
    @NSManaged var name: String?
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
  extension Maintainer {
    var email: String? {
      get { attributeValue(forKey: "email") }
      set { setAttributeValue(newValue, forKey: "email") }
    }
    var name: String? {
      get { attributeValue(forKey: "name") }
      set { setAttributeValue(newValue, forKey: "name") }
    }
    var versions: NSSet? {
      get { value(forKey: "versions") as! NSSet? }
      set { setValue(newValue, forKey: "versions") }
    }
    func addToVersions(_ value: Version) { mutableSetValue(forKey: "versions").add(value) }
    func removeFromVersions(_ value: Version) { mutableSetValue(forKey: "versions").remove(value) }
    func addToVersions(_ values: NSSet) { mutableSetValue(forKey: "versions").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromVersions(_ values: NSSet) { mutableSetValue(forKey: "versions").minus(Set(values.allObjects as! [NSManagedObject])) }
  }

  extension Maintainer: Observable {}
#endif

extension Maintainer: Identifiable {}

// Written by modelgen for the entity Version. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Version {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Version> {
    NSFetchRequest<Version>(entityName: "Version")
  }
}

#if canImport(Darwin)
  extension Version {
    @NSManaged var architecture: String?
    @NSManaged var homepage: String?
    @NSManaged var installedSize: Int32
    @NSManaged var number: String?
    @NSManaged var sha256: String?
    @NSManaged var size: Int64
    @NSManaged var summary: String?
    @NSManaged var dependencies: NSSet?
    @objc(addDependenciesObject:)
    @NSManaged func addToDependencies(_ value: Package)
    @objc(removeDependenciesObject:)
    @NSManaged func removeFromDependencies(_ value: Package)
    @objc(addDependencies:)
    @NSManaged func addToDependencies(_ values: NSSet)
    @objc(removeDependencies:)
    @NSManaged func removeFromDependencies(_ values: NSSet)
    @NSManaged var maintainer: Maintainer?
    @NSManaged var package: Package?
    @NSManaged var section: Section?
  }
#else
  extension Version {
    var architecture: String? {
      get { attributeValue(forKey: "architecture") }
      set { setAttributeValue(newValue, forKey: "architecture") }
    }
    var homepage: String? {
      get { attributeValue(forKey: "homepage") }
      set { setAttributeValue(newValue, forKey: "homepage") }
    }
    var installedSize: Int32 {
      get { attributeValue(forKey: "installedSize") ?? 0 }
      set { setAttributeValue(newValue, forKey: "installedSize") }
    }
    var number: String? {
      get { attributeValue(forKey: "number") }
      set { setAttributeValue(newValue, forKey: "number") }
    }
    var sha256: String? {
      get { attributeValue(forKey: "sha256") }
      set { setAttributeValue(newValue, forKey: "sha256") }
    }
    var size: Int64 {
      get { attributeValue(forKey: "size") ?? 0 }
      set { setAttributeValue(newValue, forKey: "size") }
    }
    var summary: String? {
      get { attributeValue(forKey: "summary") }
      set { setAttributeValue(newValue, forKey: "summary") }
    }
    var dependencies: NSSet? {
      get { value(forKey: "dependencies") as! NSSet? }
      set { setValue(newValue, forKey: "dependencies") }
    }
    func addToDependencies(_ value: Package) { mutableSetValue(forKey: "dependencies").add(value) }
    func removeFromDependencies(_ value: Package) { mutableSetValue(forKey: "dependencies").remove(value) }
    func addToDependencies(_ values: NSSet) { mutableSetValue(forKey: "dependencies").union(Set(values.allObjects as! [NSManagedObject])) }
    func removeFromDependencies(_ values: NSSet) { mutableSetValue(forKey: "dependencies").minus(Set(values.allObjects as! [NSManagedObject])) }
    var maintainer: Maintainer? {
      get { relatedObject(forKey: "maintainer") as! Maintainer? }
      set { setRelatedObject(newValue, forKey: "maintainer") }
    }
    var package: Package? {
      get { relatedObject(forKey: "package") as! Package? }
      set { setRelatedObject(newValue, forKey: "package") }
    }
    var section: Section? {
      get { relatedObject(forKey: "section") as! Section? }
      set { setRelatedObject(newValue, forKey: "section") }
    }
  }

  extension Version: Observable {}
#endif

extension Version: Identifiable {}

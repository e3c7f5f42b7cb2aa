// Written by modelgen for the entity Sailor. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Sailor {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Sailor> {
    NSFetchRequest<Sailor>(entityName: "Sailor")
  }
}

#if canImport(Darwin)
  extension Sailor {
    @NSManaged var name: String?
    @NSManaged var ship: Ship?
  }
#else
  extension Sailor {
    var name: String? {
      get { attributeValue(forKey: "name") }
      set { setAttributeValue(newValue, forKey: "name") }
    }
    var ship: Ship? {
      get { relatedObject(forKey: "ship") as! Ship? }
      set { setRelatedObject(newValue, forKey: "ship") }
    }
  }

  extension Sailor: Observable {}
#endif

extension Sailor: Identifiable {}

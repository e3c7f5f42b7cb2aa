// Written by modelgen for the entity Transfer. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Transfer {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Transfer> {
    NSFetchRequest<Transfer>(entityName: "Transfer")
  }
}

#if canImport(Darwin)
  extension Transfer {
    @NSManaged var amount: Int64
    @NSManaged var destination: Account?
    @NSManaged var source: Account?
  }
#else
  extension Transfer {
    var amount: Int64 {
      get { attributeValue(forKey: "amount") ?? 0 }
      set { setAttributeValue(newValue, forKey: "amount") }
    }
    var destination: Account? {
      get { relatedObject(forKey: "destination") as! Account? }
      set { setRelatedObject(newValue, forKey: "destination") }
    }
    var source: Account? {
      get { relatedObject(forKey: "source") as! Account? }
      set { setRelatedObject(newValue, forKey: "source") }
    }
  }

  extension Transfer: Observable {}
#endif

extension Transfer: Identifiable {}

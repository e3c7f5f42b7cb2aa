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
      get { (value(forKey: "amount") as! NSNumber?)?.int64Value ?? 0 }
      set { setValue(newValue, forKey: "amount") }
    }
    var destination: Account? {
      get { value(forKey: "destination") as! Account? }
      set { setValue(newValue, forKey: "destination") }
    }
    var source: Account? {
      get { value(forKey: "source") as! Account? }
      set { setValue(newValue, forKey: "source") }
    }
  }

  extension Transfer: Observable {}
#endif

extension Transfer: Identifiable {}

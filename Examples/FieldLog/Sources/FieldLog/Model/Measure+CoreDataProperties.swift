// Written by modelgen for the entity Measure. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Measure {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Measure> {
    NSFetchRequest<Measure>(entityName: "Measure")
  }
}

#if canImport(Darwin)
  extension Measure {
    @NSManaged var millimetres: Double
    @NSManaged var part: String?
    @NSManaged var entry: Entry?
  }
#else
  extension Measure {
    var millimetres: Double {
      get { (value(forKey: "millimetres") as! NSNumber?)?.doubleValue ?? 0 }
      set { setValue(newValue, forKey: "millimetres") }
    }
    var part: String? {
      get { value(forKey: "part") as! String? }
      set { setValue(newValue, forKey: "part") }
    }
    var entry: Entry? {
      get { value(forKey: "entry") as! Entry? }
      set { setValue(newValue, forKey: "entry") }
    }
  }

  extension Measure: Observable {}
#endif

extension Measure: Identifiable {}

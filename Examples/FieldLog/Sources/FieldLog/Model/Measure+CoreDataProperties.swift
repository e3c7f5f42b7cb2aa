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
      get { attributeValue(forKey: "millimetres") ?? 0 }
      set { setAttributeValue(newValue, forKey: "millimetres") }
    }
    var part: String? {
      get { attributeValue(forKey: "part") }
      set { setAttributeValue(newValue, forKey: "part") }
    }
    var entry: Entry? {
      get { relatedObject(forKey: "entry") as! Entry? }
      set { setRelatedObject(newValue, forKey: "entry") }
    }
  }

  extension Measure: Observable {}
#endif

extension Measure: Identifiable {}

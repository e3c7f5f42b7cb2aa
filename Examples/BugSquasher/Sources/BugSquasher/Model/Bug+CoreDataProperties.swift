// Written by modelgen for the entity Bug. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Bug {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Bug> {
    NSFetchRequest<Bug>(entityName: "Bug")
  }
}

#if canImport(Darwin)
  extension Bug {
    @NSManaged var bugID: String?
    @NSManaged var title: String?
  }
#else
  extension Bug {
    var bugID: String? {
      get { attributeValue(forKey: "bugID") }
      set { setAttributeValue(newValue, forKey: "bugID") }
    }
    var title: String? {
      get { attributeValue(forKey: "title") }
      set { setAttributeValue(newValue, forKey: "title") }
    }
  }

  extension Bug: Observable {}
#endif

extension Bug: Identifiable {}

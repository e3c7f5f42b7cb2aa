// Written by modelgen for the entity Note. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Note {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Note> {
    NSFetchRequest<Note>(entityName: "Note")
  }
}

#if canImport(Darwin)
  extension Note {
    @NSManaged var title: String?
    @NSManaged var folder: Folder?
  }
#else
  extension Note {
    var title: String? {
      get { attributeValue(forKey: "title") }
      set { setAttributeValue(newValue, forKey: "title") }
    }
    var folder: Folder? {
      get { relatedObject(forKey: "folder") as! Folder? }
      set { setRelatedObject(newValue, forKey: "folder") }
    }
  }

  extension Note: Observable {}
#endif

extension Note: Identifiable {}

// Written by modelgen for the entity Ship. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Ship {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Ship> {
    NSFetchRequest<Ship>(entityName: "Ship")
  }
}

#if canImport(Darwin)
  extension Ship {
    @NSManaged var callSign: String?
    @NSManaged var draught: NSNumber?
    @NSManaged var latitude: NSNumber?
    @NSManaged var launched: Date?
    @NSManaged var longitude: NSNumber?
    @NSManaged var tonnage: NSNumber?
    @NSManaged var crew: NSOrderedSet?
    @objc(insertObject:inCrewAtIndex:)
    @NSManaged func insertIntoCrew(_ value: Sailor, at idx: Int)
    @objc(removeObjectFromCrewAtIndex:)
    @NSManaged func removeFromCrew(at idx: Int)
    @objc(insertCrew:atIndexes:)
    @NSManaged func insertIntoCrew(_ values: [Sailor], at indexes: NSIndexSet)
    @objc(removeCrewAtIndexes:)
    @NSManaged func removeFromCrew(at indexes: NSIndexSet)
    @objc(replaceObjectInCrewAtIndex:withObject:)
    @NSManaged func replaceCrew(at idx: Int, with value: Sailor)
    @objc(replaceCrewAtIndexes:withCrew:)
    @NSManaged func replaceCrew(at indexes: NSIndexSet, with values: [Sailor])
    @objc(addCrewObject:)
    @NSManaged func addToCrew(_ value: Sailor)
    @objc(removeCrewObject:)
    @NSManaged func removeFromCrew(_ value: Sailor)
    @objc(addCrew:)
    @NSManaged func addToCrew(_ values: NSOrderedSet)
    @objc(removeCrew:)
    @NSManaged func removeFromCrew(_ values: NSOrderedSet)
  }
#else
  extension Ship {
    var callSign: String? {
      get { attributeValue(forKey: "callSign") }
      set { setAttributeValue(newValue, forKey: "callSign") }
    }
    var draught: NSNumber? {
      get { value(forKey: "draught") as! NSNumber? }
      set { setValue(newValue, forKey: "draught") }
    }
    var latitude: NSNumber? {
      get { value(forKey: "latitude") as! NSNumber? }
      set { setValue(newValue, forKey: "latitude") }
    }
    var launched: Date? {
      get { attributeValue(forKey: "launched") }
      set { setAttributeValue(newValue, forKey: "launched") }
    }
    var longitude: NSNumber? {
      get { value(forKey: "longitude") as! NSNumber? }
      set { setValue(newValue, forKey: "longitude") }
    }
    var tonnage: NSNumber? {
      get { value(forKey: "tonnage") as! NSNumber? }
      set { setValue(newValue, forKey: "tonnage") }
    }
    var crew: NSOrderedSet? {
      get { value(forKey: "crew") as! NSOrderedSet? }
      set { setValue(newValue, forKey: "crew") }
    }
    func insertIntoCrew(_ value: Sailor, at idx: Int) { mutableOrderedSetValue(forKey: "crew").insert(value, at: idx) }
    func removeFromCrew(at idx: Int) { mutableOrderedSetValue(forKey: "crew").removeObject(at: idx) }
    func insertIntoCrew(_ values: [Sailor], at indexes: NSIndexSet) { mutableOrderedSetValue(forKey: "crew").insert(values, at: indexes as IndexSet) }
    func removeFromCrew(at indexes: NSIndexSet) { mutableOrderedSetValue(forKey: "crew").removeObjects(at: indexes as IndexSet) }
    func replaceCrew(at idx: Int, with value: Sailor) { mutableOrderedSetValue(forKey: "crew").replaceObject(at: idx, with: value) }
    func replaceCrew(at indexes: NSIndexSet, with values: [Sailor]) { mutableOrderedSetValue(forKey: "crew").replaceObjects(at: indexes as IndexSet, with: values) }
    func addToCrew(_ value: Sailor) { mutableSetValue(forKey: "crew").add(value) }
    func removeFromCrew(_ value: Sailor) { mutableSetValue(forKey: "crew").remove(value) }
    func addToCrew(_ values: NSOrderedSet) { mutableOrderedSetValue(forKey: "crew").union(values) }
    func removeFromCrew(_ values: NSOrderedSet) { mutableOrderedSetValue(forKey: "crew").minus(values) }
  }

  extension Ship: Observable {}
#endif

extension Ship: Identifiable {}

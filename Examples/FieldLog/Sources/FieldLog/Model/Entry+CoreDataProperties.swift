// Written by modelgen for the entity Entry. Changes will be lost.
// swift-format-ignore-file

import CoreData
#if !canImport(Darwin)
  import Observation
#endif

extension Entry {
  @nonobjc class func fetchRequest() -> NSFetchRequest<Entry> {
    NSFetchRequest<Entry>(entityName: "Entry")
  }
}

#if canImport(Darwin)
  extension Entry {
    @NSManaged var count: Int32
    @NSManaged var seen: Date?
    @NSManaged var species: String?
    @NSManaged var measurements: NSOrderedSet?
    @objc(insertObject:inMeasurementsAtIndex:)
    @NSManaged func insertIntoMeasurements(_ value: Measure, at idx: Int)
    @objc(removeObjectFromMeasurementsAtIndex:)
    @NSManaged func removeFromMeasurements(at idx: Int)
    @objc(insertMeasurements:atIndexes:)
    @NSManaged func insertIntoMeasurements(_ values: [Measure], at indexes: NSIndexSet)
    @objc(removeMeasurementsAtIndexes:)
    @NSManaged func removeFromMeasurements(at indexes: NSIndexSet)
    @objc(replaceObjectInMeasurementsAtIndex:withObject:)
    @NSManaged func replaceMeasurements(at idx: Int, with value: Measure)
    @objc(replaceMeasurementsAtIndexes:withMeasurements:)
    @NSManaged func replaceMeasurements(at indexes: NSIndexSet, with values: [Measure])
    @objc(addMeasurementsObject:)
    @NSManaged func addToMeasurements(_ value: Measure)
    @objc(removeMeasurementsObject:)
    @NSManaged func removeFromMeasurements(_ value: Measure)
    @objc(addMeasurements:)
    @NSManaged func addToMeasurements(_ values: NSOrderedSet)
    @objc(removeMeasurements:)
    @NSManaged func removeFromMeasurements(_ values: NSOrderedSet)
    @NSManaged var site: Site?
  }
#else
  extension Entry {
    var count: Int32 {
      get { attributeValue(forKey: "count") ?? 0 }
      set { setAttributeValue(newValue, forKey: "count") }
    }
    var seen: Date? {
      get { attributeValue(forKey: "seen") }
      set { setAttributeValue(newValue, forKey: "seen") }
    }
    var species: String? {
      get { attributeValue(forKey: "species") }
      set { setAttributeValue(newValue, forKey: "species") }
    }
    var measurements: NSOrderedSet? {
      get { value(forKey: "measurements") as! NSOrderedSet? }
      set { setValue(newValue, forKey: "measurements") }
    }
    func insertIntoMeasurements(_ value: Measure, at idx: Int) { mutableOrderedSetValue(forKey: "measurements").insert(value, at: idx) }
    func removeFromMeasurements(at idx: Int) { mutableOrderedSetValue(forKey: "measurements").removeObject(at: idx) }
    func insertIntoMeasurements(_ values: [Measure], at indexes: NSIndexSet) { mutableOrderedSetValue(forKey: "measurements").insert(values, at: indexes as IndexSet) }
    func removeFromMeasurements(at indexes: NSIndexSet) { mutableOrderedSetValue(forKey: "measurements").removeObjects(at: indexes as IndexSet) }
    func replaceMeasurements(at idx: Int, with value: Measure) { mutableOrderedSetValue(forKey: "measurements").replaceObject(at: idx, with: value) }
    func replaceMeasurements(at indexes: NSIndexSet, with values: [Measure]) { mutableOrderedSetValue(forKey: "measurements").replaceObjects(at: indexes as IndexSet, with: values) }
    func addToMeasurements(_ value: Measure) { mutableSetValue(forKey: "measurements").add(value) }
    func removeFromMeasurements(_ value: Measure) { mutableSetValue(forKey: "measurements").remove(value) }
    func addToMeasurements(_ values: NSOrderedSet) { mutableOrderedSetValue(forKey: "measurements").union(values) }
    func removeFromMeasurements(_ values: NSOrderedSet) { mutableOrderedSetValue(forKey: "measurements").minus(values) }
    var site: Site? {
      get { relatedObject(forKey: "site") as! Site? }
      set { setRelatedObject(newValue, forKey: "site") }
    }
  }

  extension Entry: Observable {}
#endif

extension Entry: Identifiable {}

import CoreData
import Foundation

/// Descriptions that compute their own properties.
final class EnumAttributeDescription: NSAttributeDescription {
  private var cases: [String] = []

  convenience init(name: String, cases: [String]) {
    self.init()
    self.name = name
    self.attributeType = .stringAttributeType
    self.cases = cases
  }

  override var defaultValue: Any? {
    get { cases.first }
    set { super.defaultValue = newValue }
  }

  override var attributeValueClassName: String? {
    get { "NSString" }
    set { super.attributeValueClassName = newValue }
  }

  override var versionHash: Data { super.versionHash + Data(cases.joined(separator: ",").utf8) }
}

final class TypedEntity<Object: NSManagedObject>: NSEntityDescription {
  override var managedObjectClassName: String! {
    get { NSStringFromClass(Object.self) }
    set { super.managedObjectClassName = newValue }
  }

  override var name: String? {
    get { String(describing: Object.self) }
    set { super.name = newValue }
  }
}

final class RecentRequest: NSFetchRequest<NSManagedObject> {
  var days = 7

  override var predicate: NSPredicate? {
    get {
      let start = Date(timeIntervalSinceReferenceDate: 0).addingTimeInterval(-Double(days) * 86400)
      let recent = NSPredicate(format: "updatedAt >= %@", start as NSDate)
      return NSCompoundPredicate(andPredicateWithSubpredicates: [recent] + (super.predicate.map { [$0] } ?? []))
    }
    set { super.predicate = newValue }
  }
}

final class Ticket: NSManagedObject {
  override class func entity() -> NSEntityDescription { model.entitiesByName["Ticket"]! }

  var state: String? {
    get { value(forKey: "state") as? String }
    set { setValue(newValue, forKey: "state") }
  }

  static let model: NSManagedObjectModel = {
    let entity = TypedEntity<Ticket>()
    entity.properties = [
      EnumAttributeDescription(name: "state", cases: ["open", "closed"]), .attribute("updatedAt", .date),
    ]
    entity.indexes = [
      NSFetchIndexDescription(
        name: "byState",
        elements: [NSFetchIndexElementDescription(property: entity.properties[0], collationType: .binary)])
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }()
}

protocol LegacyIndexing {
  func describe() -> (isIndexed: Bool, compound: [[String]])
}

/// As it was written before Xcode 9.
struct LegacyIndexedEntity: LegacyIndexing {
  @available(*, deprecated, message: "Shows that deprecated properties are still there.")
  func describe() -> (isIndexed: Bool, compound: [[String]]) {
    let name = NSAttributeDescription()
    name.name = "name"
    name.attributeType = .stringAttributeType
    name.isIndexed = true
    let entity = NSEntityDescription()
    entity.name = "Person"
    entity.properties = [name]
    entity.compoundIndexes = [["name", "age"]]
    let copy = entity.copy() as! NSEntityDescription
    return (copy.properties[0].isIndexed, copy.compoundIndexes as! [[String]])
  }
}

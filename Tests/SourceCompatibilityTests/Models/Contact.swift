import CoreData
import Foundation

@resultBuilder
enum PropertiesBuilder {
  static func buildBlock(_ parts: NSPropertyDescription...) -> [NSPropertyDescription] { parts }
}

extension NSEntityDescription {
  convenience init<Object: NSManagedObject>(
    _ type: Object.Type, @PropertiesBuilder properties: () -> [NSPropertyDescription]
  ) {
    self.init()
    name = String(describing: type)
    managedObjectClassName = NSStringFromClass(type)
    self.properties = properties()
  }
}

extension NSAttributeDescription {
  convenience init(_ name: String, _ type: NSAttributeType, configure: (NSAttributeDescription) -> Void = { _ in }) {
    self.init()
    self.name = name
    attributeType = type
    configure(self)
  }
}

final class Contact: NSManagedObject {
  var name: String {
    get { value(forKey: "name") as? String ?? "" }
    set { setValue(newValue, forKey: "name") }
  }
  var sortName: String? { value(forKey: "sortName") as? String }
  var city: String? {
    get { value(forKey: "city") as? String }
    set { setValue(newValue, forKey: "city") }
  }
  var neighbours: [Contact] { value(forKey: "neighbours") as? [Contact] ?? [] }
  var initial: String {
    willAccessValue(forKey: "initial")
    defer { didAccessValue(forKey: "initial") }
    if let known = primitiveValue(forKey: "initial") as? String { return known }
    let initial = String(name.prefix(1)).uppercased()
    setPrimitiveValue(initial, forKey: "initial")
    return initial
  }

  override func didChangeValue(forKey key: String) {
    super.didChangeValue(forKey: key)
    if key == "name" { setPrimitiveValue(nil, forKey: "initial") }
  }

  static func makeModel() -> NSManagedObjectModel {
    let sortName = NSDerivedAttributeDescription()
    sortName.name = "sortName"
    sortName.attributeType = .stringAttributeType
    sortName.derivationExpression = NSExpression(
      forFunction: "lowercase:", arguments: [NSExpression(forKeyPath: "name")])

    let neighbours = NSFetchedPropertyDescription()
    neighbours.name = "neighbours"

    let contact = NSEntityDescription(Contact.self) {
      NSAttributeDescription("name", .stringAttributeType) {
        $0.isOptional = false
        $0.setValidationPredicates([NSPredicate(format: "SELF != %@", "")], withValidationWarnings: ["empty name"])
      }
      NSAttributeDescription("city", .stringAttributeType)
      NSAttributeDescription("initial", .stringAttributeType) { $0.isTransient = true }
      sortName
      neighbours
    }
    contact.userInfo = ["syncable": true]
    contact.uniquenessConstraints = [["name", "city"]]

    let request = NSFetchRequest<NSFetchRequestResult>(entityName: "Contact")
    request.predicate = NSPredicate(format: "city == $FETCH_SOURCE.city AND SELF != $FETCH_SOURCE")
    neighbours.fetchRequest = request

    let model = NSManagedObjectModel()
    model.entities = [contact]
    model.versionIdentifiers = ["1.0"]
    return model
  }
}

import CoreData
import Foundation

struct RGB: Hashable, Codable {
  var red: Double
  var green: Double
  var blue: Double
}

/// Keeps colors as JSON.
class RGBTransformer: ValueTransformer {
  static let name = NSValueTransformerName(rawValue: String(describing: RGBTransformer.self))

  override class func transformedValueClass() -> AnyClass {
    return NSData.self
  }

  override class func allowsReverseTransformation() -> Bool {
    return true
  }

  override func transformedValue(_ value: Any?) -> Any? {
    guard let color = value as? RGB else { return nil }
    return try? JSONEncoder().encode(color)
  }

  override func reverseTransformedValue(_ value: Any?) -> Any? {
    guard let data = value as? Data else { return nil }
    return try? JSONDecoder().decode(RGB.self, from: data)
  }

  static func register() {
    let transformer = RGBTransformer()
    ValueTransformer.setValueTransformer(transformer, forName: name)
  }
}

final class StringListTransformer: NSSecureUnarchiveFromDataTransformer {
  static let name = NSValueTransformerName("StringListTransformer")

  override static var allowedTopLevelClasses: [AnyClass] {
    return [NSArray.self, NSString.self]
  }

  static func register() {
    if ValueTransformer(forName: name) == nil {
      ValueTransformer.setValueTransformer(StringListTransformer(), forName: name)
    }
  }
}

/// A transformer with a state of its own.
final class RoundingTransformer: ValueTransformer {
  private let digits: Int

  init(digits: Int) {
    self.digits = digits
    super.init()
  }

  override class func allowsReverseTransformation() -> Bool { false }

  override func transformedValue(_ value: Any?) -> Any? {
    guard let number = value as? NSNumber else { return nil }
    let factor = pow(10, Double(digits))
    return NSNumber(value: (number.doubleValue * factor).rounded() / factor)
  }
}

final class Palette: NSManagedObject {
  var background: RGB? {
    get { value(forKey: "background") as? RGB }
    set { setValue(newValue, forKey: "background") }
  }
  var tags: [String] {
    get { value(forKey: "tags") as? [String] ?? [] }
    set { setValue(newValue, forKey: "tags") }
  }

  static let model: NSManagedObjectModel = {
    RGBTransformer.register()
    StringListTransformer.register()
    let background = NSAttributeDescription()
    background.name = "background"
    background.attributeType = .transformableAttributeType
    background.valueTransformerName = RGBTransformer.name.rawValue
    let tags = NSAttributeDescription()
    tags.name = "tags"
    tags.attributeType = .transformableAttributeType
    tags.attributeValueClassName = "NSArray"
    tags.valueTransformerName = StringListTransformer.name.rawValue
    let entity = NSEntityDescription()
    entity.name = "Palette"
    entity.managedObjectClassName = NSStringFromClass(Palette.self)
    entity.properties = [background, tags]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }()
}

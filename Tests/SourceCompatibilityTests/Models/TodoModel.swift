import CoreData

extension NSManagedObjectModel {
  static let todo: NSManagedObjectModel = {
    let entity = NSEntityDescription()
    entity.name = String(describing: TodoItem.self)
    entity.managedObjectClassName = NSStringFromClass(TodoItem.self)
    entity.properties = [
      .attribute("title", .string),
      .attribute("createdAt", .date),
      .attribute("completedAt", .date),
      .attribute("priority", .integer16),
    ]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }()
}

extension NSPropertyDescription {
  static func attribute(
    _ name: String, _ type: NSAttributeDescription.AttributeType, isOptional: Bool = true
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.type = type
    attribute.isOptional = isOptional
    return attribute
  }
}

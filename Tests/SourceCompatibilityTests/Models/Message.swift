import CoreData
import Foundation

/// An abstract entity with two kinds.
class Message: NSManagedObject {
  var sender: String? {
    get { value(forKey: "sender") as? String }
    set { setValue(newValue, forKey: "sender") }
  }
  var sentAt: Date {
    get { value(forKey: "sentAt") as? Date ?? .distantPast }
    set { setValue(newValue, forKey: "sentAt") }
  }
  var summary: String { sender ?? "unknown" }

  class func all(in context: NSManagedObjectContext) throws -> [Message] {
    let request = NSFetchRequest<Message>(entityName: "Message")
    request.includesSubentities = true
    request.sortDescriptors = [NSSortDescriptor(key: "sentAt", ascending: true)]
    return try context.fetch(request)
  }
}

final class TextMessage: Message {
  var text: String? {
    get { value(forKey: "text") as? String }
    set { setValue(newValue, forKey: "text") }
  }
  override var summary: String { "\(super.summary): \(text ?? "")" }

  convenience init(sender: String, text: String, sentAt: Date, context: NSManagedObjectContext) {
    self.init(context: context)
    self.sender = sender
    self.text = text
    self.sentAt = sentAt
  }
}

final class ImageMessage: Message {
  var imageData: Data? {
    get { value(forKey: "imageData") as? Data }
    set { setValue(newValue, forKey: "imageData") }
  }
  override var summary: String { "\(super.summary) sent \(imageData?.count ?? 0) bytes" }

  static func insert(
    into context: NSManagedObjectContext, sender: String, data: Data, sentAt: Date
  ) -> ImageMessage {
    let message =
      NSEntityDescription.insertNewObject(forEntityName: "ImageMessage", into: context) as! ImageMessage
    message.setValuesForKeys(["sender": sender, "imageData": data, "sentAt": sentAt])
    return message
  }
}

extension Message {
  static func makeModel() -> NSManagedObjectModel {
    func entity(_ type: Message.Type, _ properties: [NSPropertyDescription]) -> NSEntityDescription {
      let entity = NSEntityDescription()
      entity.name = "\(type)"
      entity.managedObjectClassName = NSStringFromClass(type)
      entity.properties = properties
      return entity
    }
    let message = entity(Message.self, [.attribute("sender", .string), .attribute("sentAt", .date)])
    message.isAbstract = true
    let text = entity(TextMessage.self, [.attribute("text", .string)])
    let image = entity(ImageMessage.self, [.attribute("imageData", .binaryData)])
    message.subentities = [text, image]
    let model = NSManagedObjectModel()
    model.entities = [message, text, image]
    return model
  }
}

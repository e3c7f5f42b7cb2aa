import CoreData
import Foundation

extension CodingUserInfoKey {
  static let managedObjectContext = CodingUserInfoKey(rawValue: "managedObjectContext")!
}

enum DecoderConfigurationError: Error {
  case missingManagedObjectContext
}

class Trip: NSManagedObject, Codable, Identifiable {
  enum CodingKeys: String, CodingKey {
    case id, title
    case startsAt = "starts_at"
    case stops
  }

  var id: UUID {
    get { value(forKey: "id") as! UUID }
    set { setValue(newValue, forKey: "id") }
  }
  var title: String {
    get { value(forKey: "title") as! String }
    set { setValue(newValue, forKey: "title") }
  }
  var startsAt: Date? {
    get { value(forKey: "startsAt") as? Date }
    set { setValue(newValue, forKey: "startsAt") }
  }
  var stops: [String] {
    get { value(forKey: "stops") as? [String] ?? [] }
    set { setValue(newValue, forKey: "stops") }
  }

  required convenience init(from decoder: Decoder) throws {
    guard let context = decoder.userInfo[.managedObjectContext] as? NSManagedObjectContext else {
      throw DecoderConfigurationError.missingManagedObjectContext
    }
    self.init(context: context)

    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(UUID.self, forKey: .id)
    title = try container.decode(String.self, forKey: .title)
    startsAt = try container.decodeIfPresent(Date.self, forKey: .startsAt)
    stops = try container.decode([String].self, forKey: .stops)
  }

  func encode(to encoder: Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(title, forKey: .title)
    try container.encodeIfPresent(startsAt, forKey: .startsAt)
    try container.encode(stops, forKey: .stops)
  }

  static func decode(_ json: String, into context: NSManagedObjectContext?) throws -> [Trip] {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    if let context { decoder.userInfo[.managedObjectContext] = context }
    return try decoder.decode([Trip].self, from: Data(json.utf8))
  }

  static let model: NSManagedObjectModel = {
    let entity = NSEntityDescription()
    entity.name = "Trip"
    entity.managedObjectClassName = NSStringFromClass(Trip.self)
    let stops = NSAttributeDescription()
    stops.name = "stops"
    stops.attributeType = .transformableAttributeType
    stops.valueTransformerName = NSValueTransformerName.secureUnarchiveFromDataTransformerName.rawValue
    entity.properties = [
      .attribute("id", .uuid, isOptional: false), .attribute("title", .string), .attribute("startsAt", .date), stops,
    ]
    entity.uniquenessConstraints = [["id"]]
    let model = NSManagedObjectModel()
    model.entities = [entity]
    return model
  }()
}

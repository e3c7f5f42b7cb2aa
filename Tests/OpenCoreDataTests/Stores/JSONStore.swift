import Foundation
import OpenCoreData

/// A store in a JSON file: the metadata, and each object with its entity, its attributes and the identifiers of the
/// objects that it relates to.
final class JSONStore: NSAtomicStore {
  static let storeType = NSPersistentStore.StoreType(rawValue: "JSON")

  private struct Content: Codable {
    /// A binary property list.
    var metadata: Data
    var objects: [String: Object] = [:]
  }

  private struct Object: Codable {
    let entity: String
    var attributes: [String: JSONValue] = [:]
    var related: [String: [String]] = [:]
  }

  private var content: Content?
  private var file: URL { url ?? URL(filePath: "/dev/null") }

  override func loadMetadata() throws {
    guard FileManager.default.fileExists(atPath: file.path) else {
      metadata = [NSStoreTypeKey: Self.storeType.rawValue, NSStoreUUIDKey: UUID().uuidString]
      return
    }
    let content = try Self.content(file)
    self.content = content
    metadata = try Self.metadata(content)
  }

  override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
    try metadata(content(url))
  }

  private static func content(_ file: URL) throws -> Content {
    try JSONDecoder().decode(Content.self, from: Data(contentsOf: file))
  }

  private static func metadata(_ content: Content) throws -> [String: Any] {
    guard
      let metadata = try unsafe PropertyListSerialization.propertyList(from: content.metadata, format: nil)
        as? [String: Any]
    else { throw CocoaError(.fileReadCorruptFile) }
    return metadata
  }

  override func load() throws {
    guard let content, let entities = persistentStoreCoordinator?.managedObjectModel.entitiesByName else { return }
    self.content = nil
    var nodes: [String: NSAtomicStoreCacheNode] = [:]
    for (reference, object) in content.objects {
      guard let entity = entities[object.entity] else { throw CocoaError(.fileReadCorruptFile) }
      let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: reference))
      for (name, value) in object.attributes {
        guard let attribute = entity.attributesByName[name] else { throw CocoaError(.fileReadCorruptFile) }
        node.setValue(try value.value(of: attribute.type), forKey: name)
      }
      nodes[reference] = node
    }
    for (reference, object) in content.objects {
      for (name, references) in object.related {
        let others = try references.map { reference in
          guard let other = nodes[reference] else { throw CocoaError(.fileReadCorruptFile) }
          return other
        }
        nodes[reference]?.setValue(NSOrderedSet(array: others), forKey: name)
      }
    }
    addCacheNodes(Set(nodes.values))
  }

  override func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

  override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
    NSAtomicStoreCacheNode(objectID: managedObject.objectID)
  }

  override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
    for (name, property) in managedObject.entity.propertiesByName where !property.isTransient {
      guard property is NSRelationshipDescription else {
        if property is NSAttributeDescription { node.setValue(managedObject.value(forKey: name), forKey: name) }
        continue
      }
      let nodes = managedObject.objectIDs(forRelationshipNamed: name).compactMap(cacheNode)
      node.setValue(NSOrderedSet(array: nodes), forKey: name)
    }
  }

  override func save() throws {
    var content = Content(
      metadata: try PropertyListSerialization.data(fromPropertyList: metadata ?? [:], format: .binary, options: 0))
    for node in cacheNodes() {
      var object = Object(entity: node.objectID.entity.name ?? "")
      for (key, value) in node.propertyCache ?? [:] {
        guard let name = key as? String else { continue }
        if let related = value as? NSOrderedSet {
          object.related[name] = related.compactMap { ($0 as? NSAtomicStoreCacheNode).map(reference) }
        } else {
          object.attributes[name] = try JSONValue(value)
        }
      }
      content.objects[reference(node)] = object
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    try encoder.encode(content).write(to: file, options: .atomic)
  }

  private func reference(_ node: NSAtomicStoreCacheNode) -> String { "\(referenceObject(for: node.objectID))" }
}

/// The value of an attribute in JSON. Data, dates, UUIDs and URLs are texts.
private enum JSONValue: Codable {
  case text(String)
  case number(Double)
  case integer(Int64)

  init(_ value: Any) throws {
    switch value {
    case let value as String: self = .text(value)
    case let value as Date: self = .number(value.timeIntervalSinceReferenceDate)
    case let value as Data: self = .text(value.base64EncodedString())
    case let value as UUID: self = .text(value.uuidString)
    case let value as URL: self = .text(value.absoluteString)
    case let value as NSDecimalNumber: self = .text(value.stringValue)
    case let value as NSNumber:
      self = value.doubleValue == Double(value.int64Value) ? .integer(value.int64Value) : .number(value.doubleValue)
    default: throw CocoaError(.propertyListWriteInvalid)
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else {
      self = .text(try container.decode(String.self))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .number(let number): try container.encode(number)
    case .integer(let integer): try container.encode(integer)
    }
  }

  /// The value in the form that an attribute of the type has.
  func value(of type: NSAttributeDescription.AttributeType) throws -> Any {
    switch (self, type) {
    case (.text(let text), .string): return text
    case (.text(let text), .decimal): return NSDecimalNumber(string: text)
    case (.text(let text), .binaryData):
      return try Data(base64Encoded: text) ?? { throw CocoaError(.coderReadCorrupt) }()
    case (.text(let text), .uuid): return try UUID(uuidString: text) ?? { throw CocoaError(.coderReadCorrupt) }()
    case (.text(let text), .uri): return try URL(string: text) ?? { throw CocoaError(.coderReadCorrupt) }()
    case (.number(let number), .date): return Date(timeIntervalSinceReferenceDate: number)
    case (.integer(let integer), .date): return Date(timeIntervalSinceReferenceDate: Double(integer))
    case (.number(let number), _): return number
    case (.integer(let integer), _): return NSNumber(value: integer)
    case (.text, _): throw CocoaError(.coderReadCorrupt)
    }
  }
}

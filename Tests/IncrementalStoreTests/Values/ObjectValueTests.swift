import CoreData
import Testing

@Suite("Objects in a store", .anyStore)
struct ObjectValueTests {
  @Test("Dates are stored exactly, however distant.")
  func dates() throws {
    let values = [0, -0.5, 1e-9, 700_000_000.123, -63_114_076_800, 252_423_993_600].map {
      Date(timeIntervalSinceReferenceDate: $0)
    }
    #expect(try Things(.date).afterwards(values) == values)
  }

  @Test("UUIDs and URLs are stored exactly.")
  func identifiers() throws {
    let uuids = [UUID(), UUID(uuidString: "00000000-0000-0000-0000-000000000000")!]
    #expect(try Things(.uuid).afterwards(uuids) == uuids)
    let urls = ["https://example.org/a%20b?c=d#e", "file:///tmp/x", "relative/path", "mailto:ada@example.org"]
      .map { URL(string: $0)! }
    #expect(try Things(.uri).afterwards(urls) == urls)
  }

  @Test("Transformable values are stored with their transformers.")
  func transformables() throws {
    let values: [NSArray] = [[], ["bread", "milk"], [["nested": 1]]]
    #expect(try Things(.transformable).afterwards(values) == values)
  }

  @Test(
    "An empty transformer name, and the class name of the secure transformer, mean secure archiving.",
    arguments: ["", "NSSecureUnarchiveFromDataTransformer", "NSSecureUnarchiveFromData"])
  func secureTransformers(_ name: String) throws {
    let attribute = Town.attribute("value", .transformable)
    attribute.valueTransformerName = name
    let values: [NSArray] = [[], ["bread", "milk"]]
    let things = Things(attribute)
    #expect(try things.afterwards(values) == values)
  }

  @Test("Composite values are stored, nested, and without some of their elements.")
  func composites() throws {
    let (inner, outer) = (NSCompositeAttributeDescription(), NSCompositeAttributeDescription())
    inner.name = "inner"
    inner.elements = [Town.attribute("text", .string), Town.attribute("flag", .boolean)]
    outer.elements = [Town.attribute("number", .integer64), inner]
    let values: [[String: Any]] = [
      ["number": -5, "inner": ["text": "a\0", "flag": true]], ["inner": ["text": ""]], ["number": Int64.min], [:],
    ]
    let found = try Things(outer).afterwards(values)
    #expect(found.map { $0.map { NSDictionary(dictionary: $0) } } == values.map { NSDictionary(dictionary: $0) })
  }

  @Test("Identifiers of objects are stored as values.")
  func objectIdentifiers() throws {
    let things = Things(.objectID)
    let stack = try things.stack()
    let uri = try stack.work { context in
      let (one, other) = (context.make("Thing", ["place": 1]), context.make("Thing", ["place": 2]))
      try context.obtainPermanentIDs(for: [other])
      one["value"] = other.objectID
      try context.save()
      return other.objectID.uriRepresentation()
    }
    try things.stack().work { context in
      let one = try #require(try context.all("Thing", "place = 1").first)
      #expect((one["value"] as? NSManagedObjectID)?.uriRepresentation() == uri)
    }
  }

  @Test("Storing a temporary identifier as a value is refused.")
  func temporaryIdentifier() throws {
    try Things(.objectID).stack().work { context in
      let other = context.make("Thing")
      context.make("Thing", ["value": other.objectID])
      #expect(thrown { try context.save() } != nil)
    }
  }
}

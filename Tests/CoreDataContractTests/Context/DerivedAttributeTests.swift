import CoreData
import Testing

@Suite("Derived attributes", .anyStore)
struct DerivedAttributeTests {
  private let stack: Stack<RecordingStore>

  init() throws {
    let (shelf, book) = (Town.entity("Shelf"), Town.entity("Book"))
    let books = Town.relationship("books", to: book)
    let place = Town.relationship("shelf", to: shelf, isToMany: false)
    books.inverseRelationship = place
    place.inverseRelationship = books
    shelf.properties = [
      Town.attribute("label", .string), books,
      Self.derived("folded", "canonical:(label)", .string), Self.derived("lower", "lowercase:(label)", .string),
      Self.derived("upper", "uppercase:(label)", .string), Self.derived("changed", "now()", .date),
      Self.derived("count", "books.@count", .integer64), Self.derived("pages", "books.pages.@sum", .integer64),
    ]
    book.properties = [Town.attribute("pages", .integer64), place]
    let model = NSManagedObjectModel()
    model.entities = [shelf, book]
    stack = try Stack(model, Backing())
  }

  private static func derived(
    _ name: String, _ format: String, _ type: NSAttributeDescription.AttributeType
  ) -> NSDerivedAttributeDescription {
    let attribute = NSDerivedAttributeDescription()
    attribute.name = name
    attribute.type = type
    attribute.isOptional = true
    attribute.derivationExpression = NSExpression(format: format)
    return attribute
  }

  @Test("Derived attributes are nil before the first save, which computes them.")
  func firstSave() throws {
    try stack.work { context in
      let shelf = context.make("Shelf", ["label": "Élan"])
      #expect(shelf["folded"] == nil && shelf["count"] == nil && shelf["changed"] == nil)
      try context.save()
      context.refresh(shelf, mergeChanges: true)
      #expect(shelf["folded"] as? String == "elan")
      #expect(shelf["lower"] as? String == "élan")
      #expect(shelf["upper"] as? String == "ÉLAN")
      #expect(shelf["changed"] is Date)
      #expect(shelf["count"] as? Int == 0)
    }
  }

  @Test("Every save computes derived attributes from the values that they are derived from.")
  func laterSaves() throws {
    try stack.work { context in
      let shelf = context.make("Shelf", ["label": "A"])
      for pages in [100, 50] { context.make("Book", ["pages": pages, "shelf": shelf]) }
      try context.save()
      context.refresh(shelf, mergeChanges: true)
      #expect(shelf["count"] as? Int == 2)
      #expect(shelf["pages"] as? Int == 150)
      shelf["label"] = "B"
      context.make("Book", ["pages": 1, "shelf": shelf])
      try context.save()
      context.refresh(shelf, mergeChanges: true)
      #expect(shelf["lower"] as? String == "b")
      #expect(shelf["pages"] as? Int == 151)
    }
  }

  @Test("A mandatory derived attribute fails the validation of a new object.")
  func mandatory() throws {
    let shelf = Town.entity("Shelf")
    let folded = Self.derived("folded", "canonical:(label)", .string)
    folded.isOptional = false
    shelf.properties = [Town.attribute("label", .string), folded]
    let model = NSManagedObjectModel()
    model.entities = [shelf]
    try Stack<RecordingStore>(model, Backing()).work { context in
      context.make("Shelf", ["label": "A"])
      #expect(thrown { try context.save() }?.code == 1570)
    }
  }
}

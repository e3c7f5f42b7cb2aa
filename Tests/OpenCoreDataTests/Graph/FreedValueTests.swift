import Foundation
import OpenCoreData
import Testing

@Suite("Values that are freed while an object changes")
struct FreedValueTests {
  private final class Watched: NSObject {
    var whenFreed: () -> Void = {}
    deinit { whenFreed() }
  }

  @Test("A value that is freed since another takes its place may read and change the object, which has the new value.")
  func replaced() {
    let entity = NSEntityDescription()
    entity.name = "Entry"
    let types: [(name: String, type: NSAttributeType)] = [
      ("name", .stringAttributeType), ("thing", .transformableAttributeType),
    ]
    entity.properties = types.map { name, type in
      let attribute = NSAttributeDescription()
      (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
      return attribute
    }
    let model = NSManagedObjectModel()
    model.entities = [entity]
    let object = NSManagedObject(entity: entity, insertInto: nil)
    var seen: [String] = []
    for (former, next) in [("a", "b"), ("b", "c")] {
      let watched = Watched()
      watched.whenFreed = { [unowned object] in
        seen.append(object.value(forKey: "thing") == nil ? "none" : "another")
        object.setValue(next, forKey: "name")
      }
      object.setValue(former, forKey: "name")
      object.setValue(watched, forKey: "thing")
    }
    object.setValue(nil, forKey: "thing")
    #expect(seen == ["another", "none"])
    #expect(object.value(forKey: "name") as? String == "c")
  }
}

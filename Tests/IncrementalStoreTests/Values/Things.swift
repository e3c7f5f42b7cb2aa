import CoreData

/// Objects with one attribute, which are saved to a store and read back.
struct Things {
  let backing = Backing()
  let model = NSManagedObjectModel()

  init(_ attribute: NSAttributeDescription) {
    let thing = Town.entity("Thing")
    attribute.name = "value"
    attribute.isOptional = true
    thing.properties = [Town.attribute("place", .integer64), attribute]
    model.entities = [thing]
  }

  init(_ type: NSAttributeDescription.AttributeType) { self.init(Town.attribute("value", type)) }

  func stack() throws -> Stack<RecordingStore> { try Stack(model, backing) }

  /// The values that another stack reads after these values were saved.
  func afterwards(_ values: [Any?]) throws -> [Any?] {
    try stack().work { context in
      for (place, value) in values.enumerated() {
        let thing = context.make("Thing", ["place": place])
        thing["value"] = value
      }
      try context.save()
    }
    return try stack().work { context in
      let request = people(nil, "Thing")
      request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: true)]
      return try context.fetch(request).map { $0["value"] }
    }
  }

  func afterwards<Value>(_ values: [Value]) throws -> [Value?] {
    try afterwards(values.map { Optional<Any>.some($0) }).map { $0 as? Value }
  }
}

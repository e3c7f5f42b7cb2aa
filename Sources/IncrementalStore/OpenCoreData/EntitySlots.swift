import OpenCoreData

/// Where the objects of an entity have their values. The model is in use.
struct EntitySlots {
  private let entity: NSEntityDescription

  init(_ entity: NSEntityDescription) { self.entity = entity }

  /// The slot of a property; nil if the entity has none of the name.
  func place(of name: String) -> Int? { entity.slot(of: name) }

  /// A value for each slot, as long as nothing is read.
  var blank: [ManagedValue] { entity.blankValues }
}

extension NSPropertyDescription {
  /// The entity that declares the property, of those that have it.
  var declaringEntity: NSEntityDescription { entity }
}

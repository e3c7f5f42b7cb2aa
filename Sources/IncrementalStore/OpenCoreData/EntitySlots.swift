import OpenCoreData

/// The slots of the values of an entity's objects. The model must be in use, and thus immutable.
struct EntitySlots {
  private let entity: NSEntityDescription

  init(_ entity: NSEntityDescription) { self.entity = entity }

  /// The slot of a property; nil if the entity has no property of that name.
  func place(of name: String) -> Int? { entity.slot(of: name) }

  /// The value of each slot before anything is read.
  var blank: [ManagedValue] { entity.blankValues }
}

extension NSPropertyDescription {
  /// The entity that declares the property, even if others inherit it.
  var declaringEntity: NSEntityDescription { entity }
}

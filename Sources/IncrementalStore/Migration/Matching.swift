import CoreData

/// The names by which an entity or a property of one model is found in another.
struct RenamedName {
  let name: String
  let renamingIdentifier: String

  init(_ entity: NSEntityDescription) {
    name = entity.name ?? ""
    renamingIdentifier = entity.renamingIdentifier ?? name
  }

  init(_ property: NSPropertyDescription) {
    name = property.name
    renamingIdentifier = property.renamingIdentifier ?? name
  }

  init(_ entity: Schema.Entity) { (name, renamingIdentifier) = (entity.name, entity.renamingIdentifier) }
  init(_ property: Schema.Property) { (name, renamingIdentifier) = (property.name, property.renamingIdentifier) }
}

/// Finds for the entities or properties of a model those of a store that they were before.
///
/// A former one has the same renaming identifier; or else its name is the renaming identifier, as when a name changes
/// in each version; or else it has the same name. Of several with the same renaming identifier, the one that also has
/// the same name is the right one.
struct Matching<Former> {
  /// By name in the model.
  private(set) var found: [String: Former] = [:]

  init(_ described: [RenamedName], _ former: [(value: Former, name: RenamedName)]) {
    var free = former
    let rules: [(RenamedName, RenamedName) -> Bool] = [
      { $0.renamingIdentifier == $1.renamingIdentifier && $0.name == $1.name },
      { $0.renamingIdentifier == $1.renamingIdentifier },
      { $0.renamingIdentifier == $1.name },
      { $0.name == $1.name },
    ]
    for isSame in rules {
      for name in described where found[name.name] == nil {
        guard let place = free.firstIndex(where: { isSame(name, $0.name) }) else { continue }
        found[name.name] = free.remove(at: place).value
      }
    }
  }
}

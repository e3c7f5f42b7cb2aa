import CoreData

/// An identifier as the key of a dictionary.
struct IDKey: Hashable {
  private let id: NSManagedObjectID

  init(_ id: NSManagedObjectID) { self.id = id }
}

extension NSIncrementalStore {
  /// The identifier of the object that the store refers to by a number.
  func objectID(_ number: Int64, of entity: NSEntityDescription) -> NSManagedObjectID {
    newObjectID(for: entity, referenceObject: NSNumber(value: number))
  }

  /// The number that the store refers to an object by; nil for anything else. In an identifier that was made from a URI
  /// it is a text.
  func number(of id: NSManagedObjectID) -> Int64? {
    let reference = reference(of: id)
    return (reference as? NSNumber)?.int64Value ?? (reference as? String).flatMap { Int64($0) }
  }

  /// The text that the store refers to an object by; nil for anything else.
  func text(of id: NSManagedObjectID) -> String? { reference(of: id) as? String }

  /// Nil for an identifier that is not of this store, which must not be asked for.
  private func reference(of id: NSManagedObjectID) -> Any? {
    id.isTemporaryID || id.persistentStore !== self ? nil : referenceObject(for: id)
  }
}

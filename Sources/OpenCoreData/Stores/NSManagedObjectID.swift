public import Foundation
import Synchronization

/// Identifies an object of a store, or an object that has not been saved yet, in all contexts.
///
/// Two identifiers are equal if they have the same reference in the same entity of the same store, however they were
/// made. An identifier never changes, may be used on any thread, and keeps neither its store nor its object in memory.
public final class NSManagedObjectID: NSObject, NSFetchRequestResult, @unchecked Sendable {
  /// The entity of the object.
  public let entity: NSEntityDescription

  /// Nil if the identifier is temporary.
  let identity: StoreIdentity?
  let reference: ObjectReference
  // Cached, because identifiers are looked up far more often than made. With the properties in this order, an instance
  // takes 56 bytes.
  package let cachedHash: UInt32

  /// Makes the identifier of an object of a store.
  convenience init(_ entity: NSEntityDescription, _ identity: StoreIdentity, _ reference: ObjectReference) {
    self.init(entity: entity, identity: identity, reference: reference)
  }

  /// Makes a new identifier for an object that has not been saved yet.
  convenience init(temporaryFor entity: NSEntityDescription) {
    let number = temporaryCount.wrappingAdd(1, ordering: .relaxed).newValue
    self.init(entity: entity, identity: nil, reference: .temporary(number))
  }

  private init(entity: NSEntityDescription, identity: StoreIdentity?, reference: ObjectReference) {
    self.entity = entity
    self.identity = identity
    self.reference = reference
    let mixed = (UInt64(truncatingIfNeeded: entity.hash) ^ reference.bits) &* 0x9E37_79B9_7F4A_7C15
    cachedHash = UInt32(truncatingIfNeeded: mixed >> 32)
  }

  /// Whether the identifier stands for an object that had not been saved when the identifier was asked for.
  public var isTemporaryID: Bool { identity == nil }

  /// The store of the object; nil if the identifier is temporary or the store is gone.
  public var persistentStore: NSPersistentStore? { identity?.store }

  /// The identifier as a URL. ``NSPersistentStoreCoordinator/managedObjectID(forURIRepresentation:)`` converts the URL
  /// back as long as the store exists, also in other processes; the URL of a temporary identifier cannot be converted
  /// back.
  public func uriRepresentation() -> URL { ObjectURI(self).url }

  public override var hash: Int { Int(cachedHash) }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? NSManagedObjectID).map(isSame) ?? false
  }

  package func isSame(as other: NSManagedObjectID) -> Bool {
    self === other
      || cachedHash == other.cachedHash && reference == other.reference
        && (identity === other.identity || identity?.uuid == other.identity?.uuid)
        && (entity === other.entity || entity.name == other.entity.name)
  }

  public override var description: String { uriRepresentation().absoluteString }
}

/// An identifier as the key of a dictionary. Keys are compared without a cast, and their identifiers are read only if
/// the hashes are the same.
struct IDKey: Hashable {
  let id: NSManagedObjectID
  private let hash: UInt32

  init(_ id: NSManagedObjectID) {
    self.id = id
    hash = id.cachedHash
  }

  static func == (left: IDKey, right: IDKey) -> Bool { left.hash == right.hash && left.id.isSame(as: right.id) }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }

  /// The cached hash is mixed already: a dictionary needs no other function of it.
  func _rawHashValue(seed: Int) -> Int {
    Int(truncatingIfNeeded: UInt64(hash) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(truncatingIfNeeded: seed))
  }
}

extension NSManagedObjectID: OrderedIdentity {
  /// The order of the references of two objects of one store.
  func order(_ other: Any) -> ComparisonResult? {
    guard let other = other as? NSManagedObjectID, identity?.uuid == other.identity?.uuid else { return nil }
    return switch (reference, other.reference) {
    case (.integer(let left), .integer(let right)): ComparisonResult(left, right)
    case (.string(let left), .string(let right)):
      if left.utf8.lexicographicallyPrecedes(right.utf8) {
        .orderedAscending
      } else {
        right.utf8.lexicographicallyPrecedes(left.utf8) ? .orderedDescending : .orderedSame
      }
    default: nil
    }
  }
}

extension NSManagedObjectID {
  /// A closure that reads a key which all objects have in addition to their entity's properties; nil for any other key.
  package static func reader(ofObjectKey key: String) -> ((NSManagedObjectID) -> PredicateValue)? {
    switch key {
    case "objectID": { .object($0) }
    case "entity": { .object($0.entity) }
    default: nil
    }
  }
}

extension NSManagedObjectID: PropertyValue {
  func property(_ key: String) -> PredicateValue? {
    switch key {
    case "entity": .object(entity)
    case "isTemporaryID": .integer(isTemporaryID ? 1 : 0)
    case "URIRepresentation": .object(uriRepresentation())
    case "description": .string(description)
    default: nil
    }
  }
}

/// How many temporary identifiers this process has made.
private let temporaryCount = Atomic<UInt64>(0)

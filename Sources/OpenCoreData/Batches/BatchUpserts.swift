import Foundation

/// The objects that a batch request inserts, and those that it changes instead, because they have values that must be
/// unique.
///
/// `Key` is a combination of values that must be unique, and `Holder` identifies a stored object.
package struct BatchUpserts<Key: Hashable, Holder: Hashable> {
  /// What a store tells of its objects.
  package struct Source {
    let keys: ([ManagedValue]) throws -> [Key]
    let holder: (Key) throws -> Holder?
    let values: (Holder) throws -> [ManagedValue]

    /// - Parameters:
    ///   - keys: The keys of an object with these values, one for each constraint at most.
    ///   - holder: The stored object that has a key; nil if there is none.
    ///   - values: The values of a stored object.
    package init(
      keys: @escaping ([ManagedValue]) throws -> [Key], holder: @escaping (Key) throws -> Holder?,
      values: @escaping (Holder) throws -> [ManagedValue]
    ) {
      (self.keys, self.holder, self.values) = (keys, holder, values)
    }
  }

  /// A stored object that is changed.
  package struct Change {
    /// The object.
    package let holder: Holder
    /// Its values.
    package fileprivate(set) var values: [ManagedValue]
    /// The slots that are set.
    package fileprivate(set) var slots: Set<Int>
  }

  private enum Place {
    case inserted(Int)
    case changed(Int)
  }

  /// The objects to insert.
  package private(set) var inserted: [BatchInsertion.Object] = []
  /// The stored objects to change, in the order in which they were found.
  package private(set) var changed: [Change] = []
  private var places: [Holder: Int] = [:]
  /// The objects that have keys after the request so far; nil for keys that stored objects have given up.
  private var claims: [Key: Place?] = [:]
  private let policy: NSMergePolicyType
  private let layout: EntityLayout

  /// - Parameter policy: What happens to objects with values that other objects have.
  package init(_ policy: NSMergePolicyType, _ entity: NSEntityDescription) {
    self.policy = policy
    layout = entity.layout
  }

  /// Inserts an object, or changes the one that has its values, or leaves that as it is.
  package mutating func add(_ object: BatchInsertion.Object, _ source: Source) throws {
    let keys = try source.keys(object.values)
    guard policy != .errorMergePolicyType, let place = try place(of: keys, source) else {
      for key in keys { claims[key] = .some(.inserted(inserted.count)) }
      inserted.append(object)
      return
    }
    guard policy == .overwriteMergePolicyType || policy == .mergeByPropertyObjectTrumpMergePolicyType else { return }
    let former = try source.keys(values(at: place))
    set(slotsToSet(object), of: object, at: place)
    for key in former { claims[key] = .some(nil) }
    for key in try source.keys(values(at: place)) { claims[key] = place }
  }

  private mutating func place(of keys: [Key], _ source: Source) throws -> Place? {
    for key in keys {
      if let claim = claims[key] {
        if let claim { return claim }
        continue
      }
      guard let holder = try source.holder(key) else { continue }
      if let index = places[holder] { return .changed(index) }
      let change = Change(holder: holder, values: try source.values(holder), slots: [])
      places[holder] = changed.count
      changed.append(change)
      return .changed(changed.count - 1)
    }
    return nil
  }

  private func values(at place: Place) -> [ManagedValue] {
    switch place {
    case .inserted(let index): inserted[index].values
    case .changed(let index): changed[index].values
    }
  }

  private mutating func set(_ slots: [Int], of object: BatchInsertion.Object, at place: Place) {
    switch place {
    case .inserted(let index): inserted[index].take(slots, of: object, layout)
    case .changed(let index):
      for slot in slots { changed[index].values[slot] = object.values[slot] }
      changed[index].slots.formUnion(slots)
    }
  }

  private func slotsToSet(_ object: BatchInsertion.Object) -> [Int] {
    guard policy == .overwriteMergePolicyType else { return object.given }
    return layout.slots.indices.filter { place in
      let slot = layout.slots[place]
      return slot.isInSnapshot && (slot.relationship == nil || object.given.contains(place))
    }
  }
}

extension CoreDataError {
  /// The error for an object of another entity that has values which an inserted object must not share, and which can
  /// therefore not be changed instead.
  package static func sharedKey(_ id: NSManagedObjectID, _ entity: NSEntityDescription) -> NSError {
    make(
      NSManagedObjectConstraintMergeError,
      "A batch request inserts an object of \(entity.name ?? "") with values that must be unique and that "
        + "\(id.uriRepresentation().absoluteString) has.", [NSAffectedObjectsErrorKey: [id]])
  }
}

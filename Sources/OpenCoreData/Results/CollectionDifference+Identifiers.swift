extension CollectionDifference<NSManagedObjectID> {
  /// The difference of two lists without repetitions. Identifiers that are in both, but were moved or updated, are
  /// removed and inserted, with an association.
  ///
  /// - Complexity: O(n log n).
  init(from old: [NSManagedObjectID], to new: [NSManagedObjectID], updated: [NSManagedObjectID]) {
    let oldPlaces = Self.places(old)
    let newPlaces = Self.places(new)
    let updated = Set(updated.map { IDKey($0) })
    let common = old.enumerated().compactMap { place, id in newPlaces[IDKey(id)].map { (old: place, new: $0) } }
    let settled = Set(
      longestAscent(common.map(\.new)).map { common[$0].old }.filter { !updated.contains(IDKey(old[$0])) })
    var changes: [Change] = []
    for (place, id) in old.enumerated() where !settled.contains(place) {
      changes.append(.remove(offset: place, element: id, associatedWith: newPlaces[IDKey(id)]))
    }
    for (place, id) in new.enumerated() {
      let former = oldPlaces[IDKey(id)]
      if former.map(settled.contains) ?? false { continue }
      changes.append(.insert(offset: place, element: id, associatedWith: former))
    }
    guard let difference = CollectionDifference(changes) else {
      fatalError("The results of a controller have an identifier twice.")
    }
    self = difference
  }

  private static func places(_ ids: [NSManagedObjectID]) -> [IDKey: Int] {
    Dictionary(uniqueKeysWithValues: ids.enumerated().map { (IDKey($1), $0) })
  }
}

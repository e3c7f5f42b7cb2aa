/// Identifiers of many objects in little memory: 8 bytes each if they have whole numbers in one entity of one store, 10
/// bytes if they have them in several entities of one store.
package struct PackedIDs {
  private var identity: StoreIdentity?
  private var numbers: [Int64] = []
  private var entities: [NSEntityDescription] = []
  /// The place of each object's entity in `entities`; empty as long as there is one entity.
  private var places: [UInt16] = []
  /// The identifiers that follow the numbers, because they are of another kind or of another store.
  private var others: [NSManagedObjectID] = []

  package init() {}

  init(_ ids: [NSManagedObjectID]) {
    for id in ids { append(id) }
  }

  package var count: Int { numbers.count + others.count }

  package mutating func append(_ id: NSManagedObjectID) {
    if numbers.isEmpty { identity = id.identity }
    guard others.isEmpty, case .integer(let number) = id.reference, id.identity === identity,
      let place = place(of: id.entity)
    else { return others.append(id) }
    if place > 0, places.isEmpty { places = Array(repeating: 0, count: numbers.count) }
    numbers.append(number)
    if entities.count > 1 { places.append(place) }
  }

  private mutating func place(of entity: NSEntityDescription) -> UInt16? {
    if let last = places.last ?? (entities.isEmpty ? nil : 0), entities[Int(last)] === entity { return last }
    if let place = entities.firstIndex(where: { $0 === entity }) { return UInt16(place) }
    guard entities.count <= UInt16.max else { return nil }
    entities.append(entity)
    return UInt16(entities.count - 1)
  }

  package subscript(position: Int) -> NSManagedObjectID {
    guard position < numbers.count, let identity else { return others[position - numbers.count] }
    return NSManagedObjectID(
      entities[places.isEmpty ? 0 : Int(places[position])], identity, .integer(numbers[position]))
  }
}

/// A store that can find the results of a fetch without keeping more of each than its identifier.
package protocol PackedFetchStore: NSIncrementalStore {
  /// The identifiers of the results, in their order.
  func packedIDs(_ request: NSFetchRequest<NSManagedObject>, _ context: NSManagedObjectContext) throws -> PackedIDs
}

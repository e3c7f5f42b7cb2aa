/// An ordered list of different objects: appending, removing and finding an object take constant time.
///
/// A few objects are found by looking at each. The places of more objects are in a dictionary; then a removed object
/// leaves a hole, and holes are closed before indices are read. Objects that have moved are numbered anew before a place
/// is needed, so that many insertions in a row do not number them each time.
struct ObjectList: Sequence {
  /// How many objects are found by looking at each.
  private static let few = 8

  private var objects: [NSManagedObject?] = []
  /// The places of the objects; none as long as there are a few.
  private var places: [Address: Int] = [:]
  /// The places of the objects from this one on may be out of date.
  private var firstMoved = Int.max

  init() {}

  init(_ objects: some Collection<NSManagedObject>) {
    self.objects.reserveCapacity(objects.count)
    if objects.count > Self.few { places.reserveCapacity(objects.count) }
    for object in objects { append(object) }
  }

  /// A list of one object or none.
  init(_ object: NSManagedObject?) {
    if let object { objects = [object] }
  }

  private var hasPlaces: Bool { !places.isEmpty }

  var count: Int { hasPlaces ? places.count : objects.count }
  var isEmpty: Bool { objects.isEmpty }

  func contains(_ object: NSManagedObject) -> Bool {
    hasPlaces ? places[Address(object)] != nil : lookedUpPlace(of: object) != nil
  }

  func makeIterator() -> some IteratorProtocol<NSManagedObject> { objects.lazy.compactMap(\.self).makeIterator() }

  var underestimatedCount: Int { count }

  func isEqual(_ other: ObjectList) -> Bool { count == other.count && elementsEqual(other, by: ===) }

  /// The objects in their order.
  var elements: [NSManagedObject] {
    var elements: [NSManagedObject] = []
    elements.reserveCapacity(count)
    for case let object? in objects { elements.append(object) }
    return elements
  }

  /// Returns whether the object was not in the list before.
  @discardableResult
  mutating func append(_ object: NSManagedObject) -> Bool {
    guard !contains(object) else { return false }
    if hasPlaces { places[Address(object)] = objects.count }
    objects.append(object)
    notePlacesOfMany()
    return true
  }

  /// Returns whether the object was in the list.
  @discardableResult
  mutating func remove(_ object: NSManagedObject) -> Bool {
    guard hasPlaces else {
      guard let place = lookedUpPlace(of: object) else { return false }
      objects.remove(at: place)
      return true
    }
    guard contains(object) else { return false }
    renumber()
    guard let place = places.removeValue(forKey: Address(object)) else { return false }
    if places.isEmpty {
      removeAll()
    } else if place == objects.count - 1 {
      objects.removeLast()
    } else {
      objects[place] = nil
      if objects.count > 16, objects.count > 2 * places.count { close() }
    }
    return true
  }

  /// Removes objects that are in the list.
  mutating func remove(_ objects: [NSManagedObject]) {
    if objects.count == count { removeAll() } else { for object in objects { remove(object) } }
  }

  mutating func removeAll() { self = ObjectList() }

  // MARK: Places, in ordered relationships

  subscript(index: Int) -> NSManagedObject? {
    mutating get {
      close()
      return objects.indices.contains(index) ? objects[index] : nil
    }
  }

  mutating func index(of object: NSManagedObject) -> Int? {
    guard hasPlaces else { return lookedUpPlace(of: object) }
    close()
    renumber()
    return places[Address(object)]
  }

  /// Inserts an object that is not in the list. Takes time proportional to the number of objects after `index`.
  mutating func insert(_ object: NSManagedObject, at index: Int) {
    guard index < count else {
      append(object)
      return
    }
    close()
    objects.insert(object, at: index)
    if hasPlaces {
      places[Address(object)] = index
      firstMoved = Swift.min(firstMoved, index + 1)
    } else {
      notePlacesOfMany()
    }
  }

  /// The place of one of a few objects.
  private func lookedUpPlace(of object: NSManagedObject) -> Int? { objects.firstIndex { $0 === object } }

  /// Notes the places of all objects once there are more than a few.
  private mutating func notePlacesOfMany() {
    guard !hasPlaces, objects.count > Self.few else { return }
    for (place, object) in objects.enumerated() {
      if let object { places[Address(object)] = place }
    }
  }

  /// Closes the holes.
  private mutating func close() {
    guard objects.count != count else { return }
    firstMoved = Swift.min(firstMoved, objects.firstIndex { $0 == nil } ?? 0)
    objects.removeAll { $0 == nil }
  }

  private mutating func renumber() {
    guard firstMoved != .max else { return }
    for index in Swift.min(firstMoved, objects.count)..<objects.count {
      if let object = objects[index] { places[Address(object)] = index }
    }
    firstMoved = .max
  }
}

/// An object as the key of a dictionary.
private struct Address: Hashable {
  private let object: ObjectIdentifier

  init(_ object: NSManagedObject) { self.object = ObjectIdentifier(object) }

  /// Spreads addresses, which are multiples of 16, without the costs of a hash function that resists attacks.
  func _rawHashValue(seed: Int) -> Int {
    let address = UInt64(UInt(bitPattern: object)) >> 4
    let mixed = (address ^ UInt64(truncatingIfNeeded: seed)) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: mixed >> 20)
  }
}

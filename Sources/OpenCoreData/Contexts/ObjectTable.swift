import CObjectLifetime

/// Objects by their identifiers, one for each, without retaining either: a hash table with linear probing.
///
/// An object must be removed before its identifier changes or its memory is freed. A slot takes 12 bytes: the hash of
/// the identifier lies beside the object, so that hardly any other object than the wanted one is read.
package struct ObjectTable {
  /// A power of two of them, of which at most three quarters are used; none at first.
  private var slots: [UnretainedObject?] = []
  private var hashes: [UInt32] = []
  package private(set) var count = 0

  package init() {}

  /// The object with an identifier; nil as well if its deinitialisation has begun.
  package subscript(id: NSManagedObjectID) -> NSManagedObject? { place(of: id).flatMap { slots[$0]?.object } }

  package func contains(_ id: NSManagedObjectID) -> Bool { place(of: id) != nil }

  /// All objects whose deinitialisation has not begun. O(number of objects).
  package var objects: [NSManagedObject] { slots.compactMap { $0?.object } }

  // MARK: Changing

  /// Makes room for `count` more objects.
  package mutating func reserve(_ count: Int) {
    let wanted = self.count + count
    guard wanted > slots.count / 4 * 3 else { return }
    var capacity = max(8, 2 * slots.count)
    while wanted > capacity / 4 * 3 { capacity *= 2 }
    let former = zip(slots, hashes)
    slots = Array(repeating: nil, count: capacity)
    hashes = Array(repeating: 0, count: capacity)
    for (slot, hash) in former {
      guard let slot else { continue }
      var place = home(of: hash)
      while slots[place] != nil { place = next(after: place) }
      (slots[place], hashes[place]) = (slot, hash)
    }
  }

  /// Inserts an object in the place of another one with the same identifier.
  package mutating func insert(_ object: NSManagedObject) {
    reserve(1)
    let id = object.objectID
    let hash = id.cachedHash
    var place = home(of: hash)
    while let slot = slots[place], hashes[place] != hash || !slot.has(id) { place = next(after: place) }
    if slots[place] == nil { count += 1 }
    (slots[place], hashes[place]) = (UnretainedObject(object), hash)
  }

  package mutating func remove(_ id: NSManagedObjectID) {
    if let place = place(of: id) { vacate(place) }
  }

  /// Removes an object with the identifier under which it was inserted. Returns whether it was in the table: another
  /// object may have taken its place.
  @discardableResult
  package mutating func remove(_ object: NSManagedObject, with id: NSManagedObjectID) -> Bool {
    guard count > 0 else { return false }
    var place = home(of: id.cachedHash)
    while let slot = slots[place] {
      if slot.is(object) {
        vacate(place)
        return true
      }
      place = next(after: place)
    }
    return false
  }

  // MARK: Places

  private func home(of hash: UInt32) -> Int { Int(hash) & (slots.count - 1) }

  private func next(after place: Int) -> Int { (place + 1) & (slots.count - 1) }

  private func place(of id: NSManagedObjectID) -> Int? {
    guard count > 0 else { return nil }
    let hash = id.cachedHash
    var place = home(of: hash)
    while let slot = slots[place] {
      if hashes[place] == hash, slot.has(id) { return place }
      place = next(after: place)
    }
    return nil
  }

  /// Empties a slot, and moves those behind it that would not be found any more: algorithm 6.4 R of Knuth, The Art of
  /// Computer Programming, volume 3.
  private mutating func vacate(_ place: Int) {
    var hole = place
    var place = next(after: place)
    while let slot = slots[place] {
      let distance = (place - home(of: hashes[place])) & (slots.count - 1)
      if distance >= (place - hole) & (slots.count - 1) {
        (slots[hole], hashes[hole]) = (slot, hashes[place])
        hole = place
      }
      place = next(after: place)
    }
    slots[hole] = nil
    count -= 1
  }
}

/// An unretained pointer to an object whose memory is not freed yet, though its deinitialisation may have begun.
@safe
private struct UnretainedObject {
  private let address: UnsafeMutableRawPointer

  init(_ object: NSManagedObject) { unsafe address = Unmanaged.passUnretained(object).toOpaque() }

  /// Nil if its deinitialisation has begun.
  var object: NSManagedObject? {
    unsafe swift_tryRetain(address).map { unsafe Unmanaged.fromOpaque($0).takeRetainedValue() }
  }

  func `is`(_ object: NSManagedObject) -> Bool {
    unsafe address == Unmanaged.passUnretained(object).toOpaque()
  }

  /// Whether the object has an identifier. An object whose deinitialisation has begun still has its own.
  func has(_ id: NSManagedObjectID) -> Bool {
    unsafe Unmanaged<NSManagedObject>.fromOpaque(address)._withUnsafeGuaranteedRef { $0.objectID.isSame(as: id) }
  }
}

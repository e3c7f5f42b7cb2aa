/// The identifiers of copied objects by those of the original objects: 48 bytes an object if the references are
/// numbers.
struct CopiedIdentifiers {
  private struct Table {
    let entity: NSEntityDescription
    var pairs: [(old: ObjectReference, new: ObjectReference)] = []
  }

  private let source: StoreIdentity
  private let target: StoreIdentity
  private var tables: [String: Table] = [:]

  init(_ source: StoreIdentity, _ target: StoreIdentity) { (self.source, self.target) = (source, target) }

  mutating func add(_ new: NSManagedObjectID, for old: NSManagedObjectID) {
    tables[old.entity.name ?? "", default: Table(entity: old.entity)].pairs.append((old.reference, new.reference))
  }

  /// Call this after the last identifier was added, and before the first is looked up.
  mutating func sort() {
    for name in tables.keys { tables[name]?.pairs.sort { $0.old.precedes($1.old) } }
  }

  /// The identifier of the copy of an object; nil if the object was not copied.
  ///
  /// - Complexity: O(log n).
  func copy(of old: NSManagedObjectID) -> NSManagedObjectID? {
    guard let table = tables[old.entity.name ?? ""] else { return nil }
    var (low, high) = (0, table.pairs.count)
    while low < high {
      let middle = (low + high) / 2
      if table.pairs[middle].old.precedes(old.reference) { low = middle + 1 } else { high = middle }
    }
    guard low < table.pairs.count, table.pairs[low].old == old.reference else { return nil }
    return NSManagedObjectID(table.entity, target, table.pairs[low].new)
  }

  /// Calls `body` with the identifiers of an entity's original objects, a part of at most `size` at a time.
  func forEachPart(
    of entity: NSEntityDescription, size: Int, _ body: ([NSManagedObjectID]) throws -> Void
  ) rethrows {
    guard let table = tables[entity.name ?? ""] else { return }
    for start in stride(from: 0, to: table.pairs.count, by: size) {
      let part = table.pairs[start..<min(start + size, table.pairs.count)]
      try body(part.map { NSManagedObjectID(table.entity, source, $0.old) })
    }
  }
}

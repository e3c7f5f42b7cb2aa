import Foundation

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

  /// The identifiers of all copies, made when they are read.
  var copies: NSArray { Copies(self) }

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

extension CopiedIdentifiers {
  /// The identifiers of all copies, entity by entity.
  private final class Copies: NSArray {
    private let tables: [Table]
    private let target: StoreIdentity

    init(_ identifiers: CopiedIdentifiers) {
      tables = Array(identifiers.tables.values)
      target = identifiers.target
      unsafe super.init(objects: nil, count: 0)
    }

    @unsafe required init(objects: UnsafePointer<AnyObject>?, count: Int) {
      fatalError("The identifiers of copies belong to a migration.")
    }

    required convenience init(arrayLiteral elements: Any...) {
      fatalError("The identifiers of copies belong to a migration.")
    }

    required convenience init?(coder aDecoder: NSCoder) { nil }

    override var count: Int { tables.reduce(0) { $0 + $1.pairs.count } }

    override func object(at index: Int) -> Any {
      var index = index
      for table in tables {
        if index < table.pairs.count { return NSManagedObjectID(table.entity, target, table.pairs[index].new) }
        index -= table.pairs.count
      }
      fatalError("There are only \(count) identifiers.")
    }
  }
}

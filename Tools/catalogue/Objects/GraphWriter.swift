import CoreData
import Foundation

/// Saves records as objects on a queue of its own, while its caller prepares the next records and makes their objects.
///
/// It is `Sendable`, because only the queue uses `failure`, and only the caller the other properties.
final class GraphWriter: @unchecked Sendable {
  private let store: ObjectStore
  private let queue = DispatchQueue(label: "catalogue.saves")
  private var packages = KnownObjects<String, Package>(insert: Package.init)
  private var versions = KnownObjects<VersionRecord.ID, Version>(insert: Version.init)
  private var maintainers = KnownObjects<Mailbox, Maintainer>(insert: Maintainer.init)
  private var sections = KnownObjects<String, Section>(insert: Section.init)
  /// The objects of the records that are being added, in the order of insertion.
  private var new: [NSManagedObject] = []
  private var failure: (any Error)?

  init(_ store: ObjectStore) { self.store = store }

  /// Makes the objects of records, waits for the save before, and begins to save the objects. Throws the error of an
  /// earlier save.
  func save(_ records: [VersionRecord]) throws {
    let context = store.newContext()
    try context.performAndWait {
      for record in records { add(record, to: context) }
      // Objects of the next records refer to these before they are saved.
      try context.obtainPermanentIDs(for: new)
      new.removeAll(keepingCapacity: true)
      packages.keepIDs()
      versions.keepIDs()
      maintainers.keepIDs()
      sections.keepIDs()
    }
    try finish()
    nonisolated(unsafe) let made = context
    queue.async { [self] in
      do {
        try unsafe made.performAndWait { try unsafe made.save() }
      } catch {
        failure = error
      }
    }
  }

  /// Waits until everything is saved. Throws the error of a save.
  func finish() throws {
    try queue.sync { if let failure { throw failure } }
  }

  func wait() { queue.sync {} }

  private func add(_ record: VersionRecord, to context: NSManagedObjectContext) {
    let version = versions.object(record.id, in: context, &new) { version in
      version.number = record.id.number
      version.architecture = record.id.architecture
    }
    version.homepage = record.homepage
    version.summary = record.summary
    version.installedSize = record.installedSize
    version.size = record.size
    version.sha256 = record.sha256
    version.package = package(record.id.package, in: context)
    version.maintainer = record.maintainer.map { mailbox in
      maintainers.object(mailbox, in: context, &new) { maintainer in
        maintainer.name = mailbox.name
        maintainer.email = mailbox.email
      }
    }
    version.section = record.section.map { name in sections.object(name, in: context, &new) { $0.name = name } }
    version.dependencies = NSSet(array: record.dependencies.map { package($0, in: context) })
  }

  private func package(_ name: String, in context: NSManagedObjectContext) -> Package {
    packages.object(name, in: context, &new) { $0.name = name }
  }
}

/// Finds the object of a key, or inserts it, so that there is one object for each key across all contexts.
private struct KnownObjects<Key: Hashable, Object: NSManagedObject> {
  let insert: (NSManagedObjectContext) -> Object
  private var ids: [Key: NSManagedObjectID] = [:]
  private var inserted: [Key: Object] = [:]

  init(insert: @escaping (NSManagedObjectContext) -> Object) {
    self.insert = insert
  }

  /// - Parameter new: Gets the object if it is inserted.
  mutating func object(
    _ key: Key, in context: NSManagedObjectContext, _ new: inout [NSManagedObject], setUp: (Object) -> Void
  ) -> Object {
    if let id = ids[key] { return context.object(with: id) as! Object }
    if let object = inserted[key] { return object }
    let object = insert(context)
    setUp(object)
    inserted[key] = object
    new.append(object)
    return object
  }

  /// Call this when the inserted objects have permanent identifiers, before another context is used.
  mutating func keepIDs() {
    for (key, object) in inserted { ids[key] = object.objectID }
    inserted.removeAll(keepingCapacity: true)
  }
}

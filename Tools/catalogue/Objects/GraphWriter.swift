import CoreData
import Foundation

/// Saves records as objects on a queue of its own, while its caller prepares the next records.
///
/// It is `Sendable`, because only the queue uses the properties that change.
final class GraphWriter: @unchecked Sendable {
  private let store: ObjectStore
  private let queue = DispatchQueue(label: "catalogue.saves")
  private var packages = KnownObjects<String, Package>(insert: Package.init)
  private var versions = KnownObjects<VersionRecord.ID, Version>(insert: Version.init)
  private var maintainers = KnownObjects<Mailbox, Maintainer>(insert: Maintainer.init)
  private var sections = KnownObjects<String, Section>(insert: Section.init)
  private var failure: (any Error)?

  init(_ store: ObjectStore) { self.store = store }

  /// Waits for the save before, and begins to save records. Throws the error of an earlier save.
  func save(_ records: [VersionRecord]) throws {
    try finish()
    queue.async { [self] in
      do { try insert(records) } catch { failure = error }
    }
  }

  /// Waits until everything is saved. Throws the error of a save.
  func finish() throws {
    try queue.sync { if let failure { throw failure } }
  }

  func wait() { queue.sync {} }

  private func insert(_ records: [VersionRecord]) throws {
    try store.work { context in
      for record in records { add(record, to: context) }
      try context.save()
      packages.noteSave()
      versions.noteSave()
      maintainers.noteSave()
      sections.noteSave()
    }
  }

  private func add(_ record: VersionRecord, to context: NSManagedObjectContext) {
    let version = versions.object(record.id, in: context) { version in
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
      maintainers.object(mailbox, in: context) { maintainer in
        maintainer.name = mailbox.name
        maintainer.email = mailbox.email
      }
    }
    version.section = record.section.map { name in sections.object(name, in: context) { $0.name = name } }
    version.dependencies = NSSet(array: record.dependencies.map { package($0, in: context) })
  }

  private func package(_ name: String, in context: NSManagedObjectContext) -> Package {
    packages.object(name, in: context) { $0.name = name }
  }
}

/// Finds the object of a key, or inserts it, so that there is one object for each key across all contexts.
private struct KnownObjects<Key: Hashable, Object: NSManagedObject> {
  let insert: (NSManagedObjectContext) -> Object
  private var saved: [Key: NSManagedObjectID] = [:]
  private var inserted: [Key: Object] = [:]

  init(insert: @escaping (NSManagedObjectContext) -> Object) {
    self.insert = insert
  }

  mutating func object(_ key: Key, in context: NSManagedObjectContext, setUp: (Object) -> Void) -> Object {
    if let id = saved[key] { return context.object(with: id) as! Object }
    if let object = inserted[key] { return object }
    let object = insert(context)
    setUp(object)
    inserted[key] = object
    return object
  }

  /// Call this when the inserted objects have been saved, because their identifiers are then permanent.
  mutating func noteSave() {
    for (key, object) in inserted { saved[key] = object.objectID }
    inserted.removeAll(keepingCapacity: true)
  }
}

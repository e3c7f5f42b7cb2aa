import CoreData

/// Imports catalogues into a store of objects, a thousand stanzas to a context and a save. Only identifiers stay in
/// memory between saves; an interrupted import leaves a store with the saves before the interruption.
struct GraphImporter {
  static let stanzasPerSave = 1000

  private var packages = KnownObjects<String, Package>(insert: Package.init)
  private var versions = KnownObjects<VersionRecord.ID, Version>(insert: Version.init)
  private var maintainers = KnownObjects<Mailbox, Maintainer>(insert: Maintainer.init)
  private var sections = KnownObjects<String, Section>(insert: Section.init)
  private(set) var saves = 0

  /// `progress` is called repeatedly with the number of input bytes and stanzas read so far.
  mutating func run(
    _ files: [PackageFile], into store: ObjectStore, progress: (_ bytes: Int, _ stanzas: Int) -> Void
  ) throws {
    var pending: [VersionRecord] = []
    var stanzas = 0
    try files.forEachStanza(progress: { bytes in progress(bytes, stanzas) }) { stanza, file in
      pending.append(try VersionRecord(stanza, file: file))
      stanzas += 1
      guard pending.count == Self.stanzasPerSave else { return }
      try save(pending, in: store)
      pending.removeAll(keepingCapacity: true)
    }
    if !pending.isEmpty { try save(pending, in: store) }
  }

  private mutating func save(_ records: [VersionRecord], in store: ObjectStore) throws {
    try store.work { context in
      for record in records { add(record, to: context) }
      try context.save()
      packages.noteSave()
      versions.noteSave()
      maintainers.noteSave()
      sections.noteSave()
    }
    saves += 1
  }

  private mutating func add(_ record: VersionRecord, to context: NSManagedObjectContext) {
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

  private mutating func package(_ name: String, in context: NSManagedObjectContext) -> Package {
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
    saved.merge(inserted.mapValues(\.objectID)) { _, new in new }
    inserted.removeAll()
  }
}

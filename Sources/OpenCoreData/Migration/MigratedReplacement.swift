import Foundation

/// Replaces a store, a file or folder, with its migrated copy, which is made beside it.
///
/// Two renames replace the store: of the store to the name of the former one, and of the copy to the name of the store.
/// If the process ends between them, ``restore()`` undoes the first.
struct MigratedReplacement {
  private let url: URL
  private let storeClass: NSIncrementalStore.Type
  /// Where the copy is made. Several processes may migrate a store at once, so each has a name of its own.
  let copy: URL

  /// - Parameter url: The location of the store, a file URL.
  init(_ url: URL, _ storeClass: NSIncrementalStore.Type) {
    self.url = url
    self.storeClass = storeClass
    copy = url.deletingLastPathComponent().appending(path: Self.nameOfCopies(url) + UUID().uuidString)
  }

  private static func nameOfCopies(_ url: URL) -> String { ".\(url.lastPathComponent).migrating " }

  private var former: URL { url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).former") }

  /// Brings back the store if a process has ended while it replaced it. Call this before a store is made at the location:
  /// a new store there would look like the migrated one.
  func restore() throws {
    let files = FileManager.default
    guard !files.fileExists(atPath: url.path), files.fileExists(atPath: former.path) else { return }
    try files.moveItem(at: former, to: url)
  }

  /// Removes what is left of earlier migrations.
  func clear() {
    let files = FileManager.default
    if files.fileExists(atPath: url.path) { try? files.removeItem(at: former) }
    let folder = url.deletingLastPathComponent()
    for name in (try? files.contentsOfDirectory(atPath: folder.path)) ?? []
    where name.hasPrefix(Self.nameOfCopies(url)) {
      let copy = folder.appending(path: name)
      // A copy that another process is making stays.
      if (storeClass as? any LockableStore.Type)?.isInUse(at: copy) != true { try? files.removeItem(at: copy) }
    }
  }

  /// - Parameters:
  ///   - identifier: The identifier of the store that was copied.
  ///   - revision: The number of its last save that the copy contains; nil if its class does not tell.
  func replace(_ identifier: String?, unchangedSince revision: UInt64?) throws {
    try StoreReplacement.synchronize(contentsOf: copy)
    guard let lockable = storeClass as? any LockableStore.Type, let revision else { return try rename() }
    try lockable.whileUnused(at: url, since: revision) {
      let found = try storeClass.metadataForPersistentStore(with: url)[NSStoreUUIDKey] as? String
      guard found == identifier else {
        throw CoreDataError.make(
          NSPersistentStoreOperationError, "The store at \(url.path) has been replaced while it was migrated.")
      }
      try rename()
    }
  }

  private func rename() throws {
    let files = FileManager.default
    try files.moveItem(at: url, to: former)
    do {
      try files.moveItem(at: copy, to: url)
    } catch {
      try files.moveItem(at: former, to: url)
      throw error
    }
    try StoreReplacement.synchronize(url.deletingLastPathComponent())
    // The store has been replaced, whether or not this succeeds; the next migration tries again.
    try? files.removeItem(at: former)
  }

  /// Removes the copy.
  func discard() { try? FileManager.default.removeItem(at: copy) }
}

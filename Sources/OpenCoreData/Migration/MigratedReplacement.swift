import Foundation

/// Replaces a store, a file or folder, with its migrated copy, which is made beside it.
///
/// Two renames replace the store: of the store to the name of the former one, and of the copy to the name of the store.
/// If the process ends between them, ``recover()`` undoes the first.
struct MigratedReplacement {
  private let url: URL
  private let storeClass: NSIncrementalStore.Type

  /// - Parameter url: The location of the store, a file URL.
  init(_ url: URL, _ storeClass: NSIncrementalStore.Type) {
    self.url = url
    self.storeClass = storeClass
  }

  /// Where the copy is made.
  var copy: URL { beside("migrating") }
  private var former: URL { beside("former") }

  private func beside(_ what: String) -> URL {
    url.deletingLastPathComponent().appending(path: ".\(url.lastPathComponent).\(what)")
  }

  /// Brings back the store if a process has ended while it replaced it, and removes what is left of earlier migrations.
  func recover() throws {
    let files = FileManager.default
    if files.fileExists(atPath: former.path) {
      if files.fileExists(atPath: url.path) {
        try files.removeItem(at: former)
      } else {
        try files.moveItem(at: former, to: url)
      }
    }
    if files.fileExists(atPath: copy.path) { try files.removeItem(at: copy) }
  }

  /// - Parameter revision: The last save that the copy contains.
  func replace(unchangedSince revision: UInt64?) throws {
    func replace() throws {
      let files = FileManager.default
      try files.moveItem(at: url, to: former)
      do {
        try files.moveItem(at: copy, to: url)
      } catch {
        try files.moveItem(at: former, to: url)
        throw error
      }
      // The store has been replaced, whether or not this succeeds; the next migration tries again.
      try? files.removeItem(at: former)
    }
    guard let lockable = storeClass as? any LockableStore.Type else { return try replace() }
    try lockable.whileUnused(at: url, since: revision, replace)
  }
}

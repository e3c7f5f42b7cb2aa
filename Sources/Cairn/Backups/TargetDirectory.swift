/// A directory that files are copied into. It is locked meanwhile, as that of a store that is open for writing.
struct TargetDirectory {
  let directory: any Directory
  private let files: any FileLayer
  private let path: String
  private let wasCreated: Bool
  private let lock: any FileLock

  /// - Parameter inspect: throws if the directory has something else in it. Called before anything is changed, and
  ///   again once the directory is locked.
  /// - Throws: what `inspect` throws; `locked`, `alreadyExists` if there is a file at the path, `noPermission`,
  ///   `noSpace`, `inputOutput`.
  init(
    at path: String, _ files: any FileLayer, _ inspect: (any Directory, [String]) throws(StoreError) -> Void
  ) throws(StoreError) {
    let (directory, wasCreated) = try Self.openOrCreate(path, files)
    func inspectNow() throws(StoreError) {
      try inspect(directory, try StoreError.wrap { () throws(FileError) in try directory.list() })
    }
    do throws(StoreError) {
      try inspectNow()
      lock = try StoreError.wrap { () throws(FileError) in
        try directory.lock(LockOwner.fileName, owner: Array(LockOwner.text.utf8))
      }
    } catch {
      if wasCreated { Self.remove(path, files) }
      throw error
    }
    (self.directory, self.files, self.path, self.wasCreated) = (directory, files, path, wasCreated)
    do throws(StoreError) {
      try inspectNow()
      // The directory itself has to be durable before anything in it counts.
      if wasCreated { try StoreError.wrap { () throws(FileError) in try files.syncDirectory(parent) } }
    } catch {
      end(removing: [])
      throw error
    }
  }

  private static func openOrCreate(
    _ path: String, _ files: any FileLayer
  ) throws(StoreError) -> (directory: any Directory, wasCreated: Bool) {
    do throws(FileError) {
      do throws(FileError) {
        return (try files.directory(path), false)
      } catch {
        guard error.cause == .notFound else { throw error }
      }
      try files.createDirectory(path)
      return (try files.directory(path), true)
    } catch {
      guard error.isNotADirectory else { throw StoreError(error) }
      throw StoreError(.alreadyExists, "\(path) is not a directory")
    }
  }

  private var parent: String { SystemFileLayer.split(path).parent }

  private static func remove(_ path: String, _ files: any FileLayer) {
    do throws(FileError) { try files.remove(path) } catch {}
  }

  /// Calls `body`, and ends the use of the directory. After an error, removes the files that `body` has named to its
  /// argument, and the directory if it was created for them.
  func use<R>(_ body: (_ discard: ([String]) -> Void) throws(StoreError) -> R) throws(StoreError) -> R {
    var discarded: [String] = []
    do throws(StoreError) {
      let result = try body { discarded += $0 }
      end()
      return result
    } catch {
      end(removing: discarded)
      throw error
    }
  }

  private func end(removing names: [String]) {
    for name in names { directory.removeIfPossible(name) }
    if wasCreated { directory.removeIfPossible(LockOwner.fileName) }
    end()
    if wasCreated { Self.remove(path, files) }
  }

  private func end() {
    lock.release()
    directory.close()
  }
}

extension FileError {
  /// Whether something that is no directory is where a directory was expected.
  fileprivate var isNotADirectory: Bool { cause == .exists || cause == .system(SystemFileLayer.notADirectory) }
}

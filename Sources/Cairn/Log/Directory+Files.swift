/// What the log does with its files.
extension Directory {
  /// Creates an empty file with `size` bytes reserved, and replaces an existing one. A failure leaves no file.
  func create(_ name: String, reserving size: Int) throws(FileError) -> any File {
    do throws(FileError) {
      try remove(name)
    } catch {
      guard error.cause == .notFound else { throw error }
    }
    let file = try open(name, .create)
    do throws(FileError) {
      try file.reserve(size)
    } catch {
      discard(file, name)
      throw error
    }
    return file
  }

  func discard(_ file: any File, _ name: String) {
    file.close()
    removeIfPossible(name)
  }

  /// Removes a file that is not listed: if it cannot be removed, it does no harm.
  func removeIfPossible(_ name: String) {
    do throws(FileError) { try remove(name) } catch {}
  }
}

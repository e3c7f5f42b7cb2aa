extension StoreError {
  /// Calls `body`, and throws its errors as those of a store.
  package static func wrap<R>(_ body: () throws(FileError) -> R) throws(StoreError) -> R {
    do throws(FileError) { return try body() } catch { throw StoreError(error) }
  }

  /// Why a call of the file layer failed.
  package init(_ error: FileError) {
    let code: Code
    var number: Int32?
    let reason: String
    switch error.cause {
    case .notFound: (code, reason) = (.notFound, "no such file or directory")
    case .exists: (code, reason) = (.inputOutput, "already exists")
    case .noPermission: (code, reason) = (.noPermission, "permission denied")
    case .noSpace: (code, reason) = (.noSpace, "no space left")
    case .noDescriptors: (code, reason) = (.noDescriptors, "too many open files")
    case .noMemory: (code, reason) = (.noMemory, "out of memory")
    case .notAFile: (code, reason) = (.damaged, "not a regular file")
    case .tooLong: (code, reason) = (.damaged, "the file is too long")
    case .locked(let owner):
      (code, reason) = (
        .locked, "in use by \(owner.isEmpty ? "another process" : String(decoding: owner, as: UTF8.self))"
      )
    case .system(let value):
      number = value
      (code, reason) = (.inputOutput, systemErrorText(value))
    }
    self.init(code, "\(error.operation) \(error.path): \(reason)", systemError: number)
  }
}

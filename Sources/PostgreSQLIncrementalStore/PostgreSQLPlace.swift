#if PostgreSQL
  import CoreData
  import IncrementalStore

  /// Where a store is: the server and database as libpq understands them, and the namespace.
  struct PostgreSQLPlace: Sendable {
    /// The namespace of stores whose URLs name none.
    static let defaultNamespace = "cairn"

    let url: URL
    let address: String
    let namespace: String

    /// - Throws: 134080 if the URL is not one of PostgreSQL's, or has a password.
    init(_ url: URL) throws {
      self.url = url
      guard let scheme = url.scheme, ["postgresql", "postgres"].contains(scheme) else {
        throw StoreFailure.make(
          NSPersistentStoreOpenError,
          "The URL of a PostgreSQL store begins with postgresql:, and this one with \(url.scheme ?? "nothing").")
      }
      guard url.password() == nil, url.query()?.contains("password=") != true else {
        throw StoreFailure.make(
          NSPersistentStoreOpenError,
          "The URL of a PostgreSQL store must not have a password: others can read it. Use the option "
            + "PostgreSQLPasswordOption or a password file.")
      }
      let parts = url.absoluteString.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      address = String(parts[0])
      namespace = parts.count > 1 ? String(parts[1]).removingPercentEncoding ?? "" : Self.defaultNamespace
      guard (1...63).contains(namespace.utf8.count), !namespace.utf8.contains(0), !namespace.hasPrefix("pg_") else {
        throw StoreFailure.make(
          NSPersistentStoreOpenError,
          "The namespace of a PostgreSQL store has 1 to 63 bytes and does not begin with pg_: \(namespace).")
      }
    }

    /// Runs a closure that may throw errors of the server, which are converted, and other errors, which are not.
    func translating<R>(_ body: () throws -> R) throws -> R {
      do {
        return try body()
      } catch let error as PostgreSQLError {
        throw failure(error)
      }
    }

    /// An error in Cocoa's domain, with the server's as the underlying error.
    func failure(_ error: PostgreSQLError) -> NSError {
      StoreFailure.make(
        Self.code(error), "The store at \(self): \(error)", [NSUnderlyingErrorKey: error])
    }

    private static func code(_ error: PostgreSQLError) -> Int {
      switch error.state {
      case "53100": CocoaError.fileWriteOutOfSpace.rawValue
      case "25006": CocoaError.fileWriteVolumeReadOnly.rawValue
      case "42501", "28000", "28P01": CocoaError.fileReadNoPermission.rawValue
      case "XX001", "XX002": CocoaError.fileReadCorruptFile.rawValue
      case "3D000", "3F000", "42P01", "0A000": NSPersistentStoreOpenError
      // A statement or lock took too long, no connection became free, or others kept changing the same rows.
      case "57014", "55P03", "25P03", ConnectionPool.noneIsFree: NSPersistentStoreTimeoutError
      case "40001", "40P01": NSPersistentStoreTimeoutError
      default: NSPersistentStoreOperationError
      }
    }
  }

  extension PostgreSQLPlace: CustomStringConvertible {
    var description: String { url.absoluteString }
  }
#endif

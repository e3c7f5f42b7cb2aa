import Foundation
import GRDB

/// Tables in SQLite.
package final class RecordStore: KeptStore {
  package let url: URL
  private let schema: String
  private var opened: DatabaseQueue?

  package init(_ schema: String, at url: URL) {
    self.schema = schema
    self.url = url
  }

  package var queue: DatabaseQueue { opened! }

  package func open() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    opened = try DatabaseQueue(path: url.appending(path: "store.sqlite").path, configuration: Self.configuration)
    try queue.write { database in
      if try Table("sqlite_master").fetchCount(database) == 0 { try database.execute(sql: schema) }
    }
  }

  package func close() throws {
    try opened?.writeWithoutTransaction { database in _ = try database.checkpoint(.truncate) }
    try opened?.close()
    opened = nil
  }

  package func compact() throws { try queue.vacuum() }

  /// As durable as the other side: a committed transaction is on the disk. The page cache holds everything.
  private static var configuration: Configuration {
    var configuration = Configuration()
    configuration.journalMode = .wal
    configuration.prepareDatabase { database in
      try database.execute(
        sql: """
          PRAGMA synchronous = FULL;
          PRAGMA cache_size = -1048576;
          PRAGMA mmap_size = 1073741824;
          PRAGMA wal_autocheckpoint = 16384;
          """)
    }
    return configuration
  }
}

extension Database {
  /// Executes a statement that inserts a row, and returns the number of the row.
  package func insert(_ statement: Statement, _ arguments: StatementArguments) throws -> Int64 {
    statement.setUncheckedArguments(arguments)
    try statement.execute()
    return lastInsertedRowID
  }
}

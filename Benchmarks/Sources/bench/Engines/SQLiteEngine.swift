import CSQLite
import Synchronization

/// SQLite: a `WITHOUT ROWID` table, write-ahead log, memory-mapped reads, prepared statements.
///
/// Buffered is `synchronous=OFF`, synced is `synchronous=FULL`. SQLite allows one writer at a time; writing threads
/// queue on a lock of ours, which makes the comparison fairer to SQLite than its own way of waiting, which is to sleep.
final class SQLiteEngine: Engine, @unchecked Sendable {
  private var path = ""
  private var durability = Durability.buffered
  private let writers = SQLiteWriterLock()
  /// Stays open, so that the end of a session does not fold the log into the table.
  private var keeper: SQLiteConnection?

  func open(at directory: String, _ durability: Durability) throws {
    path = directory + "/rows.sqlite"
    self.durability = durability
    keeper = try SQLiteConnection(path: path, durability)
    try keeper?.run("CREATE TABLE IF NOT EXISTS rows (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID")
  }

  func makeSession() throws -> any Session {
    try SQLiteSession(SQLiteConnection(path: path, durability), writers)
  }

  func close() {
    keeper?.close()
    keeper = nil
  }
}

private final class SQLiteWriterLock: Sendable {
  private let mutex = Mutex(())

  func hold(_ body: () throws -> Void) throws {
    try mutex.withLock { _ in try body() }
  }
}

private final class SQLiteConnection {
  private let handle: OpaquePointer?

  init(path: String, _ durability: Durability) throws {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    self.handle = handle
    try check(code)
    sqlite3_busy_timeout(handle, 10_000)
    try run("PRAGMA journal_mode=WAL")
    try run("PRAGMA synchronous=\(durability == .synced ? "FULL" : "OFF")")
    try run("PRAGMA mmap_size=\(64 << 30)")
    try run("PRAGMA cache_size=-\(1 << 20)")
    try run("PRAGMA wal_autocheckpoint=16384")
  }

  func close() {
    sqlite3_close_v2(handle)
  }

  func run(_ sql: String) throws {
    try check(sqlite3_exec(handle, sql, nil, nil, nil))
  }

  func prepare(_ sql: String) throws -> OpaquePointer? {
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
    return statement
  }

  @inline(__always)
  func check(_ code: Int32) throws {
    if code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE { return }
    throw EngineError("SQLite", String(cString: sqlite3_errmsg(handle)))
  }
}

private final class SQLiteSession: Session, @unchecked Sendable {
  private let connection: SQLiteConnection
  private let writers: SQLiteWriterLock
  private let begin, commit, insert, select, all, from: OpaquePointer?

  init(_ connection: SQLiteConnection, _ writers: SQLiteWriterLock) throws {
    self.connection = connection
    self.writers = writers
    begin = try connection.prepare("BEGIN")
    commit = try connection.prepare("COMMIT")
    insert = try connection.prepare("INSERT INTO rows VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value")
    select = try connection.prepare("SELECT value FROM rows WHERE key = ?")
    all = try connection.prepare("SELECT value FROM rows ORDER BY key")
    from = try connection.prepare("SELECT value FROM rows WHERE key >= ? ORDER BY key LIMIT ?")
  }

  func close() {
    for statement in [begin, commit, insert, select, all, from] { sqlite3_finalize(statement) }
    connection.close()
  }

  func put(_ pattern: AccessPattern, perCommit: Int) throws {
    var step = pattern.steps.lowerBound
    while step < pattern.steps.upperBound {
      let end = min(step + perCommit, pattern.steps.upperBound)
      try writers.hold {
        // A single put is a transaction by itself; only several puts need an explicit one.
        if perCommit > 1 { try execute(begin) }
        while step < end {
          let row = pattern.row(at: step)
          try withUnsafeBytes(of: Key(row: row)) { key in
            sqlite3_bind_blob(insert, 1, key.baseAddress, Int32(key.count), nil)
            sqlite3_bind_blob(insert, 2, pattern.value(of: row), Int32(ValuePool.valueSize), nil)
            try execute(insert)
          }
          step += 1
        }
        if perCommit > 1 { try execute(commit) }
      }
    }
  }

  func get(_ pattern: AccessPattern, _ view: View) throws -> Reading {
    var reading = Reading()
    if view == .fixed { try execute(begin) }
    for step in pattern.steps {
      try withUnsafeBytes(of: Key(row: pattern.row(at: step))) { key in
        sqlite3_bind_blob(select, 1, key.baseAddress, Int32(key.count), nil)
        try readRows(select, into: &reading)
      }
    }
    if view == .fixed { try execute(commit) }
    return reading
  }

  func scan() throws -> Reading {
    var reading = Reading()
    try readRows(all, into: &reading)
    return reading
  }

  func seek(_ pattern: AccessPattern, next: Int) throws -> Reading {
    var reading = Reading()
    try execute(begin)
    sqlite3_bind_int64(from, 2, Int64(next + 1))
    for step in pattern.steps {
      try withUnsafeBytes(of: Key(row: pattern.row(at: step))) { key in
        sqlite3_bind_blob(from, 1, key.baseAddress, Int32(key.count), nil)
        try readRows(from, into: &reading)
      }
    }
    try execute(commit)
    return reading
  }

  @inline(__always)
  private func execute(_ statement: OpaquePointer?) throws {
    try connection.check(sqlite3_step(statement))
    sqlite3_reset(statement)
  }

  @inline(__always)
  private func readRows(_ statement: OpaquePointer?, into reading: inout Reading) throws {
    var code = sqlite3_step(statement)
    while code == SQLITE_ROW {
      if let value = sqlite3_column_blob(statement, 0) {
        reading.add(value, count: Int(sqlite3_column_bytes(statement, 0)))
      }
      code = sqlite3_step(statement)
    }
    try connection.check(code)
    sqlite3_reset(statement)
  }
}

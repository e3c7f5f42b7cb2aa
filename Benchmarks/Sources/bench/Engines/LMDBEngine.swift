import CLMDB

/// LMDB, either copying pages into a file (`writemap` false) or writing through the map.
///
/// Buffered is `MDB_NOSYNC`; synced is LMDB's default, a sync of data and of the meta page in every commit.
final class LMDBEngine: Engine, @unchecked Sendable {
  /// Address space, not memory or disk: the map only has to be larger than any store in the benchmark.
  private static let mapSize = 64 << 30

  private let writemap: Bool
  private var environment: OpaquePointer?
  private var table: MDB_dbi = 0

  init(writemap: Bool) {
    self.writemap = writemap
  }

  func open(at directory: String, _ durability: Durability) throws {
    // Sessions' read transactions move between threads: `NOTLS`. Pages need no zeroing here: `NOMEMINIT`.
    var flags = UInt32(MDB_NOTLS | MDB_NOMEMINIT)
    if writemap { flags |= UInt32(MDB_WRITEMAP) }
    if durability == .buffered { flags |= UInt32(MDB_NOSYNC) }
    try lmdbCheck(mdb_env_create(&environment))
    try lmdbCheck(mdb_env_set_mapsize(environment, Self.mapSize))
    try lmdbCheck(mdb_env_open(environment, directory, flags, 0o644))
    var transaction: OpaquePointer?
    try lmdbCheck(mdb_txn_begin(environment, nil, 0, &transaction))
    try lmdbCheck(mdb_dbi_open(transaction, nil, 0, &table))
    try lmdbCheck(mdb_txn_commit(transaction))
  }

  func makeSession() throws -> any Session {
    try LMDBSession(environment: environment, table: table)
  }

  func close() {
    mdb_env_close(environment)
    environment = nil
  }
}

/// A session whose read transaction is kept for reuse. It is reset between runs, so that it retains no old pages while
/// others write.
private final class LMDBSession: Session, @unchecked Sendable {
  private let environment: OpaquePointer?
  private let table: MDB_dbi
  private var reader: OpaquePointer?

  init(environment: OpaquePointer?, table: MDB_dbi) throws {
    self.environment = environment
    self.table = table
    try lmdbCheck(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &reader))
    mdb_txn_reset(reader)
  }

  func close() {
    mdb_txn_abort(reader)
  }

  func put(_ pattern: AccessPattern, perCommit: Int) throws {
    var step = pattern.steps.lowerBound
    while step < pattern.steps.upperBound {
      let end = min(step + perCommit, pattern.steps.upperBound)
      var transaction: OpaquePointer?
      try lmdbCheck(mdb_txn_begin(environment, nil, 0, &transaction))
      while step < end {
        let row = pattern.row(at: step)
        var key = Key(row: row)
        try withUnsafeMutableBytes(of: &key) { key in
          var key = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
          var value = MDB_val(
            mv_size: ValuePool.valueSize, mv_data: UnsafeMutableRawPointer(mutating: pattern.value(of: row)))
          try lmdbCheck(mdb_put(transaction, table, &key, &value, 0))
        }
        step += 1
      }
      try lmdbCheck(mdb_txn_commit(transaction))
    }
  }

  func get(_ pattern: AccessPattern, _ view: View) throws -> Reading {
    var reading = Reading()
    try lmdbCheck(mdb_txn_renew(reader))
    defer { mdb_txn_reset(reader) }
    for step in pattern.steps {
      var key = Key(row: pattern.row(at: step))
      if view == .latest {
        mdb_txn_reset(reader)
        try lmdbCheck(mdb_txn_renew(reader))
      }
      try withUnsafeMutableBytes(of: &key) { key in
        var key = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
        var value = MDB_val()
        let code = mdb_get(reader, table, &key, &value)
        if code == MDB_NOTFOUND { return }
        try lmdbCheck(code)
        reading.add(value.mv_data, count: value.mv_size)
      }
    }
    return reading
  }

  func scan() throws -> Reading {
    var reading = Reading()
    try withCursor { cursor in
      var key = MDB_val()
      var value = MDB_val()
      var code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
      while code == 0 {
        reading.add(value.mv_data, count: value.mv_size)
        code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
      }
      if code != MDB_NOTFOUND { try lmdbCheck(code) }
    }
    return reading
  }

  func seek(_ pattern: AccessPattern, next: Int) throws -> Reading {
    var reading = Reading()
    try withCursor { cursor in
      for step in pattern.steps {
        var key = Key(row: pattern.row(at: step))
        try withUnsafeMutableBytes(of: &key) { key in
          var key = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
          var value = MDB_val()
          var code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
          var left = next
          while code == 0 {
            reading.add(value.mv_data, count: value.mv_size)
            if left == 0 { return }
            left -= 1
            code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
          }
          if code != MDB_NOTFOUND { try lmdbCheck(code) }
        }
      }
    }
    return reading
  }

  private func withCursor(_ body: (OpaquePointer?) throws -> Void) throws {
    try lmdbCheck(mdb_txn_renew(reader))
    defer { mdb_txn_reset(reader) }
    var cursor: OpaquePointer?
    try lmdbCheck(mdb_cursor_open(reader, table, &cursor))
    defer { mdb_cursor_close(cursor) }
    try body(cursor)
  }
}

@inline(__always)
private func lmdbCheck(_ code: Int32) throws {
  if code != 0 { throw EngineError("LMDB", String(cString: mdb_strerror(code))) }
}

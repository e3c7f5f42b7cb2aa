import CLevelDB

/// LevelDB: Snappy, bloom filters of 10 bits a key, a cache that holds everything, a 64 MiB write buffer.
final class LevelDBEngine: Engine, @unchecked Sendable {
  private let options = leveldb_options_create()
  private let cache = leveldb_cache_create_lru(4 << 30)
  private let filter = leveldb_filterpolicy_create_bloom(10)
  private var database: OpaquePointer?
  private var durability = Durability.buffered

  init() {
    leveldb_options_set_create_if_missing(options, 1)
    leveldb_options_set_compression(options, Int32(leveldb_snappy_compression))
    leveldb_options_set_write_buffer_size(options, 64 << 20)
    leveldb_options_set_cache(options, cache)
    leveldb_options_set_filter_policy(options, filter)
  }

  deinit {
    leveldb_options_destroy(options)
    leveldb_cache_destroy(cache)
    leveldb_filterpolicy_destroy(filter)
  }

  func open(at directory: String, _ durability: Durability) throws {
    self.durability = durability
    database = try checked { leveldb_open(options, directory, &$0) }
  }

  func makeSession() throws -> any Session {
    LevelDBSession(database: database, durability: durability)
  }

  func close() {
    leveldb_close(database)
    database = nil
  }
}

private final class LevelDBSession: Session, @unchecked Sendable {
  private let database: OpaquePointer?
  private let writing = leveldb_writeoptions_create()
  private let reading = leveldb_readoptions_create()
  private let batch = leveldb_writebatch_create()

  init(database: OpaquePointer?, durability: Durability) {
    self.database = database
    leveldb_writeoptions_set_sync(writing, durability == .synced ? 1 : 0)
    leveldb_readoptions_set_verify_checksums(reading, 1)
  }

  func close() {
    leveldb_writeoptions_destroy(writing)
    leveldb_readoptions_destroy(reading)
    leveldb_writebatch_destroy(batch)
  }

  func put(_ pattern: AccessPattern, perCommit: Int) throws {
    var step = pattern.steps.lowerBound
    while step < pattern.steps.upperBound {
      let end = min(step + perCommit, pattern.steps.upperBound)
      leveldb_writebatch_clear(batch)
      while step < end {
        let row = pattern.row(at: step)
        withUnsafeBytes(of: Key(row: row)) { key in
          let key = key.assumingMemoryBound(to: CChar.self)
          let value = pattern.value(of: row).assumingMemoryBound(to: CChar.self)
          leveldb_writebatch_put(batch, key.baseAddress, key.count, value, ValuePool.valueSize)
        }
        step += 1
      }
      try checked { leveldb_write(database, writing, batch, &$0) }
    }
  }

  func get(_ pattern: AccessPattern, _ view: View) throws -> Reading {
    var result = Reading()
    for step in pattern.steps {
      try withUnsafeBytes(of: Key(row: pattern.row(at: step))) { key in
        let key = key.assumingMemoryBound(to: CChar.self)
        var count = 0
        let value = try checked { leveldb_get(database, reading, key.baseAddress, key.count, &count, &$0) }
        guard let value else { return }
        result.add(value, count: count)
        leveldb_free(value)
      }
    }
    return result
  }

  func scan() throws -> Reading {
    var result = Reading()
    try withIterator { iterator in
      leveldb_iter_seek_to_first(iterator)
      while leveldb_iter_valid(iterator) != 0 {
        var count = 0
        guard let value = leveldb_iter_value(iterator, &count) else { return }
        result.add(value, count: count)
        leveldb_iter_next(iterator)
      }
    }
    return result
  }

  func seek(_ pattern: AccessPattern, next: Int) throws -> Reading {
    var result = Reading()
    try withIterator { iterator in
      for step in pattern.steps {
        withUnsafeBytes(of: Key(row: pattern.row(at: step))) { key in
          let key = key.assumingMemoryBound(to: CChar.self)
          leveldb_iter_seek(iterator, key.baseAddress, key.count)
        }
        var left = next
        while leveldb_iter_valid(iterator) != 0 {
          var count = 0
          guard let value = leveldb_iter_value(iterator, &count) else { return }
          result.add(value, count: count)
          if left == 0 { break }
          left -= 1
          leveldb_iter_next(iterator)
        }
      }
    }
    return result
  }

  private func withIterator(_ body: (OpaquePointer?) -> Void) throws {
    let iterator = leveldb_create_iterator(database, reading)
    defer { leveldb_iter_destroy(iterator) }
    body(iterator)
    try checked { leveldb_iter_get_error(iterator, &$0) }
  }
}

@inline(__always)
private func checked<R>(_ call: (inout UnsafeMutablePointer<CChar>?) throws -> R) throws -> R {
  var message: UnsafeMutablePointer<CChar>?
  let result = try call(&message)
  if let message { throw EngineError("LevelDB", takingMessage: message) { leveldb_free($0) } }
  return result
}

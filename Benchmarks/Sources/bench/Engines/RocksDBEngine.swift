import CRocksDB

/// RocksDB: LZ4, bloom filters of 10 bits a key, a cache that holds everything, write buffers of 64 MiB with bloom
/// filters of their own, two background threads, hash indexes in data blocks, the write-ahead log on.
final class RocksDBEngine: Engine, @unchecked Sendable {
  private let options = rocksdb_options_create()
  private let cache = rocksdb_cache_create_lru(4 << 30)
  private var database: OpaquePointer?
  private var durability = Durability.buffered

  init() {
    let table = rocksdb_block_based_options_create()
    defer { rocksdb_block_based_options_destroy(table) }
    rocksdb_block_based_options_set_block_cache(table, cache)
    // From here on, the table's options own the filter policy.
    rocksdb_block_based_options_set_filter_policy(table, rocksdb_filterpolicy_create_bloom_full(10))
    rocksdb_block_based_options_set_data_block_index_type(
      table, Int32(rocksdb_block_based_table_data_block_index_type_binary_search_and_hash))
    rocksdb_block_based_options_set_data_block_hash_ratio(table, 0.75)
    rocksdb_options_set_block_based_table_factory(options, table)
    rocksdb_options_set_create_if_missing(options, 1)
    rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
    rocksdb_options_set_write_buffer_size(options, 64 << 20)
    rocksdb_options_set_max_write_buffer_number(options, 4)
    rocksdb_options_increase_parallelism(options, 2)
    // Lookups skip a write buffer that does not contain the key.
    rocksdb_options_set_memtable_prefix_bloom_size_ratio(options, 0.1)
    rocksdb_options_set_memtable_whole_key_filtering(options, 1)
  }

  deinit {
    rocksdb_options_destroy(options)
    rocksdb_cache_destroy(cache)
  }

  func open(at directory: String, _ durability: Durability) throws {
    self.durability = durability
    database = try checked { rocksdb_open(options, directory, &$0) }
  }

  func makeSession() throws -> any Session {
    RocksDBSession(database: database, durability: durability)
  }

  func close() {
    rocksdb_close(database)
    database = nil
  }
}

private final class RocksDBSession: Session, @unchecked Sendable {
  private let database: OpaquePointer?
  private let writing = rocksdb_writeoptions_create()
  private let reading = rocksdb_readoptions_create()
  private let batch = rocksdb_writebatch_create()

  init(database: OpaquePointer?, durability: Durability) {
    self.database = database
    rocksdb_writeoptions_set_sync(writing, durability == .synced ? 1 : 0)
  }

  func close() {
    rocksdb_writeoptions_destroy(writing)
    rocksdb_readoptions_destroy(reading)
    rocksdb_writebatch_destroy(batch)
  }

  func put(_ pattern: AccessPattern, perCommit: Int) throws {
    var step = pattern.steps.lowerBound
    while step < pattern.steps.upperBound {
      let end = min(step + perCommit, pattern.steps.upperBound)
      rocksdb_writebatch_clear(batch)
      while step < end {
        let row = pattern.row(at: step)
        withUnsafeBytes(of: Key(row: row)) { key in
          let key = key.assumingMemoryBound(to: CChar.self)
          let value = pattern.value(of: row).assumingMemoryBound(to: CChar.self)
          rocksdb_writebatch_put(batch, key.baseAddress, key.count, value, ValuePool.valueSize)
        }
        step += 1
      }
      try checked { rocksdb_write(database, writing, batch, &$0) }
    }
  }

  func get(_ pattern: AccessPattern, _ view: View) throws -> Reading {
    var result = Reading()
    for step in pattern.steps {
      try withUnsafeBytes(of: Key(row: pattern.row(at: step))) { key in
        let key = key.assumingMemoryBound(to: CChar.self)
        let slice = try checked { rocksdb_get_pinned(database, reading, key.baseAddress, key.count, &$0) }
        guard let slice else { return }
        var count = 0
        if let value = rocksdb_pinnableslice_value(slice, &count) { result.add(value, count: count) }
        rocksdb_pinnableslice_destroy(slice)
      }
    }
    return result
  }

  func scan() throws -> Reading {
    var result = Reading()
    try withIterator { iterator in
      rocksdb_iter_seek_to_first(iterator)
      while rocksdb_iter_valid(iterator) != 0 {
        var count = 0
        guard let value = rocksdb_iter_value(iterator, &count) else { return }
        result.add(value, count: count)
        rocksdb_iter_next(iterator)
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
          rocksdb_iter_seek(iterator, key.baseAddress, key.count)
        }
        var left = next
        while rocksdb_iter_valid(iterator) != 0 {
          var count = 0
          guard let value = rocksdb_iter_value(iterator, &count) else { return }
          result.add(value, count: count)
          if left == 0 { break }
          left -= 1
          rocksdb_iter_next(iterator)
        }
      }
    }
    return result
  }

  private func withIterator(_ body: (OpaquePointer?) -> Void) throws {
    let iterator = rocksdb_create_iterator(database, reading)
    defer { rocksdb_iter_destroy(iterator) }
    body(iterator)
    try checked { rocksdb_iter_get_error(iterator, &$0) }
  }
}

@inline(__always)
private func checked<R>(_ call: (inout UnsafeMutablePointer<CChar>?) throws -> R) throws -> R {
  var message: UnsafeMutablePointer<CChar>?
  let result = try call(&message)
  if let message { throw EngineError("RocksDB", takingMessage: message) { rocksdb_free($0) } }
  return result
}

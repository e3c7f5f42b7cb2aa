import ArgumentParser

/// The engines that can be compared, with their names on the command line.
enum EngineKind: String, CaseIterable, ExpressibleByArgument {
  case cairn
  case lmdb
  case lmdbWritemap = "lmdb-writemap"
  case leveldb
  case rocksdb
  case sqlite

  /// The name in the table; by it, ratios find the engine that they are about.
  var name: String {
    switch self {
    case .cairn: Self.subject
    case .lmdb: "LMDB"
    case .lmdbWritemap: "LMDB (WRITEMAP)"
    case .leveldb: "LevelDB"
    case .rocksdb: "RocksDB"
    case .sqlite: "SQLite"
    }
  }

  /// The engine that all ratios are about.
  static let subject = "Cairn"

  func makeEngine() -> any Engine {
    switch self {
    case .cairn: CairnEngine()
    case .lmdb: LMDBEngine(writemap: false)
    case .lmdbWritemap: LMDBEngine(writemap: true)
    case .leveldb: LevelDBEngine()
    case .rocksdb: RocksDBEngine()
    case .sqlite: SQLiteEngine()
    }
  }
}

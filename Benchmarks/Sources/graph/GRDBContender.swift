import Comparing
import Foundation
import GRDB

/// Records in SQLite, read and written with prepared statements.
final class GRDBContender: GraphContender {
  let store: RecordStore
  private var packages: [Int64] = []
  private var versions: [Int64] = []
  private var queue: DatabaseQueue { store.queue }

  init(at url: URL) { store = RecordStore(Self.schema, at: url) }

  func open() throws {
    try store.open()
    _ = try queue.read { database in try VersionRecord.fetchOne(database) }
  }

  /// Identifiers are numbers here, which stay valid.
  func resolveIdentifiers() {}

  func insert(_ graph: PackageGraph) throws {
    var packages = [Int64?](repeating: nil, count: graph.packages.count)
    var maintainers = [Int64?](repeating: nil, count: graph.maintainers.count)
    var sections = [Int64?](repeating: nil, count: graph.sections.count)
    for batch in graph.versions.batches {
      try queue.write { database in
        let insertPackage = try database.cachedStatement(sql: "INSERT INTO package (name) VALUES (?)")
        let insertMaintainer = try database.cachedStatement(sql: "INSERT INTO maintainer (name, email) VALUES (?, ?)")
        let insertSection = try database.cachedStatement(sql: "INSERT INTO section (name) VALUES (?)")
        let insertVersion = try database.cachedStatement(
          sql: "INSERT INTO version VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        let insertDependency = try database.cachedStatement(sql: "INSERT INTO dependency VALUES (?, ?)")
        func known(_ ids: inout [Int64?], _ position: Int, insert: () throws -> Int64) rethrows -> Int64 {
          if let id = ids[position] { return id }
          let id = try insert()
          ids[position] = id
          return id
        }
        for version in batch {
          let package = try known(&packages, version.package) {
            try database.insert(insertPackage, [graph.packages[version.package]])
          }
          let maintainer = try known(&maintainers, version.maintainer) {
            let maintainer = graph.maintainers[version.maintainer]
            return try database.insert(insertMaintainer, [maintainer.name, maintainer.email])
          }
          let section = try known(&sections, version.section) {
            try database.insert(insertSection, [graph.sections[version.section]])
          }
          let id = try database.insert(
            insertVersion,
            [
              version.number, version.architecture, version.homepage, version.summary, version.installedSize,
              version.size, version.sha256, package, maintainer, section,
            ])
          versions.append(id)
          for dependency in version.dependencies {
            let target = try known(&packages, dependency) {
              try database.insert(insertPackage, [graph.packages[dependency]])
            }
            _ = try database.insert(insertDependency, [id, target])
          }
        }
      }
    }
    self.packages = packages.map { $0! }
  }

  func content() throws -> GraphContent {
    try queue.read { database in
      func rows(_ table: String) throws -> Int { try Table(table).fetchCount(database) }
      var content = GraphContent(
        packages: try rows("package"), versions: try rows("version"), maintainers: try rows("maintainer"),
        sections: try rows("section"), dependencies: try rows("dependency"), textBytes: 0, sizes: 0)
      let records = try VersionRecord.fetchCursor(database)
      while let version = try records.next() {
        for text in [version.number, version.architecture, version.homepage ?? "", version.summary, version.sha256] {
          content.textBytes += text.utf8.count
        }
        content.sizes += version.size + version.installedSize
      }
      return content
    }
  }

  /// A record is fetched whether it is asked for by a request or by its identifier.
  func find(_ versions: [Int]) throws -> Int { try realise(versions) }

  func fetch(_ versions: [Int]) throws -> Int { try realise(versions) }

  func realise(_ versions: [Int]) throws -> Int {
    try queue.read { database in
      let statement = try database.cachedStatement(sql: "SELECT * FROM version WHERE id = ?")
      return try versions.reduce(0) {
        try $0 + VersionRecord.fetchOne(statement, arguments: [self.versions[$1]])!.size
      }
    }
  }

  func realiseTogether(_ versions: [Int]) throws -> Int {
    let ids = versions.map { self.versions[$0] }
    return try queue.read { database in
      try VersionRecord.fetchAll(database, keys: ids).reduce(0) { $0 + $1.size }
    }
  }

  func dependents(_ packages: [Int]) throws -> Int { try dependentIDs(packages) }

  func dependentIDs(_ packages: [Int]) throws -> Int {
    try queue.read { database in
      let statement = try database.cachedStatement(sql: "SELECT version FROM dependency WHERE package = ?")
      return try packages.reduce(0) {
        try $0 + Int64.fetchAll(statement, arguments: [self.packages[$1]]).count
      }
    }
  }

  func scan(installedSizeAbove size: Int) throws -> Int {
    try queue.read { database in
      let statement = try database.cachedStatement(sql: "SELECT * FROM version WHERE installedSize > ?")
      return try VersionRecord.fetchAll(statement, arguments: [size]).reduce(0) { $0 + $1.size }
    }
  }

  func count(installedSizeAbove size: Int) throws -> Int {
    try queue.read { database in
      let statement = try database.cachedStatement(sql: "SELECT COUNT(*) FROM version WHERE installedSize > ?")
      return try Int.fetchOne(statement, arguments: [size])!
    }
  }

  func change(_ versions: [Int]) throws -> Int {
    let ids = versions.map { self.versions[$0] }
    var sum = 0
    for batch in ids.batches {
      try queue.write { database in
        let update = try database.cachedStatement(
          sql: "UPDATE version SET summary = ?, installedSize = ? WHERE id = ?")
        for version in try VersionRecord.fetchAll(database, keys: batch) {
          sum += version.size
          update.setUncheckedArguments(["now of \(version.size) bytes", version.installedSize + 1, version.id])
          try update.execute()
        }
      }
    }
    return sum
  }

  func delete(packages: [Int]) throws -> Int {
    let ids = packages.map { self.packages[$0] }
    for batch in ids.batches {
      try queue.write { database in
        let delete = try database.cachedStatement(sql: "DELETE FROM package WHERE id = ?")
        for id in batch {
          delete.setUncheckedArguments([id])
          try delete.execute()
        }
      }
    }
    return packages.count
  }

  func holding<Result>(_ versions: Int, _ body: () -> Result) throws -> Result {
    let held = try queue.read { database in try VersionRecord.limit(versions).fetchAll(database) }
    return withExtendedLifetime(held, body)
  }
}

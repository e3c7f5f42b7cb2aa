import CoreData

/// Keeps its rows in a file, which it reads when it is opened and writes anew with every save. The backing, which is
/// empty when the store is opened, holds the rows in memory.
final class FileStore: RecordingStore {
  override func loadMetadata() throws {
    let content = try read()
    backing.metadata = content["metadata"] as? [String: Any] ?? [:]
    for row in content["rows"] as? [[String: Any]] ?? [] { add(row) }
    try super.loadMetadata()
    if let identifier = backing.metadata[NSStoreUUIDKey] { metadata[NSStoreUUIDKey] = identifier }
    if content.isEmpty { try write() }
  }

  override func save(_ request: NSSaveChangesRequest, with context: NSManagedObjectContext?) throws -> Any {
    let answer = try super.save(request, with: context)
    try write()
    return answer
  }

  private func read() throws -> [String: Any] {
    guard let data = try? Data(contentsOf: url!), !data.isEmpty else { return [:] }
    return try unsafe PropertyListSerialization.propertyList(from: data, format: nil) as! [String: Any]
  }

  private func write() throws {
    let rows = backing.rows.map { number, row in
      [
        "number": number, "entity": row.entityName, "version": Int(row.version), "attributes": row.attributes,
        "toOne": row.toOne, "toMany": row.toMany,
      ]
    }
    let content: [String: Any] = ["metadata": metadata ?? [:], "rows": rows]
    try PropertyListSerialization.data(fromPropertyList: content, format: .binary, options: 0).write(to: url!)
  }

  private func add(_ row: [String: Any]) {
    let number = row["number"] as! Int
    while backing.reserveNumber() < number {}
    backing.rows[number] = BackingRow(
      entityName: row["entity"] as! String, version: UInt64(row["version"] as! Int),
      attributes: row["attributes"] as! [String: Any], toOne: row["toOne"] as! [String: Int],
      toMany: row["toMany"] as! [String: [Int]])
  }
}

extension FileStore {
  static let type: NSPersistentStore.StoreType = {
    let type = NSPersistentStore.StoreType(rawValue: storeType)
    NSPersistentStoreCoordinator.registerStoreClass(FileStore.self, type: type)
    return type
  }()
}

/// Runs the block with a folder that is removed afterwards.
func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
  let folder = URL.temporaryDirectory.appending(path: UUID().uuidString)
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try body(folder)
}

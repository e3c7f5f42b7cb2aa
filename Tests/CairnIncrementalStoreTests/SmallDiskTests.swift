import CoreData
import Foundation
import Testing

@testable import CairnIncrementalStore

/// The path of a real file system of a few megabytes, which `Tests/Scripts/DiskFull/test.sh` mounts.
private let smallDisk = ProcessInfo.processInfo.environment["CAIRN_SMALL_DISK"]

@Suite(.enabled(if: smallDisk != nil), .serialized) struct SmallDiskTests {
  /// Writes a file so long that only `rest` bytes of the disk remain.
  private func fill(_ disk: String, leaving rest: Int, _ name: String) throws {
    let path = "\(disk)/\(name)"
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    let file = try #require(FileHandle(forWritingAtPath: path))
    defer { try? file.close() }
    let free = try FileManager.default.attributesOfFileSystem(forPath: disk)[.systemFreeSize] as? NSNumber
    var count = (free?.intValue ?? 0) - rest
    for length in [1 << 16, 1 << 12] {
      while count >= length, (try? file.write(contentsOf: Data(count: length))) != nil { count -= length }
    }
  }

  private func removeFiles(_ disk: String) {
    for name in ["objects", "filler", "rest"] { try? FileManager.default.removeItem(atPath: "\(disk)/\(name)") }
  }

  /// Saves shelves with 50 books each until the disk is full. Returns the coordinator and the number of shelves.
  private func fillWithShelves(_ disk: String, textLength: Int) throws -> (library: Coordinator, shelves: Int) {
    try fill(disk, leaving: 6 << 20, "filler")
    let library = try Coordinator(URL(filePath: "\(disk)/objects"), [CairnDurabilityOption: "buffered"])
    var random = SystemRandomNumberGenerator()
    func text() -> String {
      String((0..<textLength).map { _ in Character(UnicodeScalar(UInt8.random(in: 33...126, using: &random))) })
    }
    var saved = 0
    var refusal: NSError?
    while refusal == nil {
      library.work { context in
        let shelf = context.insert("Shelf", ["name": text()])
        let books = (0..<50).map { context.insert("Book", ["title": "\(saved) \($0)", "author": text()]) }
        shelf.setValue(NSSet(array: books), forKey: "books")
        shelf.setValue(NSOrderedSet(array: books), forKey: "row")
        shelf.setValue(NSSet(array: books), forKey: "tagged")
      }
      refusal = error { try library.work { try $0.save() } }
      if refusal == nil { saved += 1 }
    }
    #expect(refusal?.code == CocoaError.fileWriteOutOfSpace.rawValue)
    library.work { $0.reset() }
    try fill(disk, leaving: 0, "rest")
    return (library, saved)
  }

  @Test("D11: All objects of a store on a full disk can be deleted, with one save for each.", arguments: [300, 20_000])
  func deletingObjects(_ length: Int) throws {
    let disk = try #require(smallDisk)
    defer { removeFiles(disk) }
    let (library, saved) = try fillWithShelves(disk, textLength: length)
    let count = try library.work { context in
      let objects = try context.all("Book") + context.all("Shelf")
      for object in objects {
        context.delete(object)
        try context.save()
      }
      return objects.count
    }
    #expect(count == saved * 51)
    #expect(try library.work { try $0.all("Shelf").count + $0.all("Book").count } == 0)
    try library.close()
  }

  @Test("D11: The owners of many members can be deleted from a full disk, with one save for each.")
  func deletingOwners() throws {
    let disk = try #require(smallDisk)
    defer { removeFiles(disk) }
    let (library, saved) = try fillWithShelves(disk, textLength: 30)
    try library.work { context in
      for shelf in try context.all("Shelf") {
        context.delete(shelf)
        try context.save()
      }
    }
    #expect(try library.work { try $0.all("Shelf").count } == 0)
    #expect(try library.work { try $0.all("Book").count } == saved * 50)
    try library.close()
  }
}

import Foundation
import OpenCoreData

/// The models in Xcode's format, and temporary folders for others.
enum Fixtures {
  static let models = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Data/Models").standardizedFileURL

  static func model(_ name: String) throws -> NSManagedObjectModel {
    try NSManagedObjectModel(modelFileAt: models.appending(path: name))
  }

  /// The expected warnings about `Attic.xcdatamodeld`, one per line.
  static func atticWarnings() throws -> String {
    try String(contentsOf: models.appending(path: "Attic-warnings.txt"), encoding: .utf8)
      .replacing("Attic.xcdatamodeld/", with: models.appending(path: "Attic.xcdatamodeld").path + "/")
  }

  /// Runs `body` with a folder that is removed afterwards.
  static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "models-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }

  /// Reads a model file with these lines.
  @discardableResult
  static func read(_ lines: String...) throws -> NSManagedObjectModel {
    try withFolder { folder in
      let file = folder.appending(path: "contents")
      try Data(lines.joined(separator: "\n").utf8).write(to: file)
      return try NSManagedObjectModel(modelFileAt: file)
    }
  }
}

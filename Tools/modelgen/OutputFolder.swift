import Foundation

/// The folder for generated files.
struct OutputFolder {
  let url: URL

  /// Writes the files that are new or have changed, and returns how many these are. Replaces each file as a whole.
  /// Writes nothing if modelgen did not write one of the existing files, unless `force`.
  func write(_ files: [SourceFile], force: Bool) throws -> Int {
    let changed = try files.filter { file in
      guard let present = try text(at: path(file)) else { return true }
      guard force || present.hasPrefix(SourceFile.mark) else {
        throw OutputError(file: path(file).path, reason: "not written by modelgen; use --force to replace it")
      }
      return present != file.text
    }
    try failing(url) { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
    for file in changed {
      try failing(path(file)) { try Data(file.text.utf8).write(to: path(file), options: .atomic) }
    }
    return changed.count
  }

  private func path(_ file: SourceFile) -> URL { url.appending(path: file.name) }

  private func text(at url: URL) throws -> String? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    return try failing(url) { String(decoding: try Data(contentsOf: url), as: UTF8.self) }
  }

  private func failing<Result>(_ url: URL, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch {
      throw OutputError(file: url.path, reason: error.localizedDescription)
    }
  }
}

/// A file that cannot be written, or must not be.
struct OutputError: Error, CustomStringConvertible {
  let file: String
  let reason: String

  var description: String { "\(file): \(reason)" }
}

import CoreData

/// Imports notes in the background, some hundreds with each save. The context of the screen merges them.
struct Importer {
  static let notesPerSave = 500

  /// Returns how many notes were imported.
  static func run(_ file: URL, into container: NSPersistentContainer) async throws -> Int {
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    return try await container.performBackgroundTask { context in
      var count = 0
      for line in lines {
        let parts = line.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw NotANote(line: String(line)) }
        let note = Note(context: context)
        note.title = parts[1]
        note.folder = try Folder.named(parts[0], in: context)
        count += 1
        if count.isMultiple(of: notesPerSave) {
          try context.save()
          // The saved notes are not needed here any more.
          context.reset()
        }
      }
      try context.save()
      return count
    }
  }
}

struct NotANote: LocalizedError {
  let line: String

  var errorDescription: String? { "\"\(line)\" is not FOLDER/TITLE" }
}

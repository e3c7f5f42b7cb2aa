import CairnIncrementalStore
import CoreData

@main
@MainActor
struct Notes {
  static func main() async {
    let arguments = CommandLine.arguments.dropFirst()
    guard let directory = arguments.first, let commands = Command.parse(arguments.dropFirst()) else {
      fail(Command.usage, status: 64)
    }
    do {
      let notes = try Notes(container(at: URL(filePath: directory)))
      for command in commands { try await notes.perform(command) }
    } catch {
      fail("Notes: \(error.localizedDescription)", status: 1)
    }
  }

  private static func fail(_ text: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(status)
  }

  /// Opens the store, and makes a new one if there is none.
  private static func container(at directory: URL) throws -> NSPersistentContainer {
    guard let file = Bundle.module.url(forResource: "Notes", withExtension: "xcdatamodeld"),
      let model = NSManagedObjectModel(contentsOf: file)
    else { fatalError("There is no model.") }
    let container = NSPersistentContainer(name: "Notes", managedObjectModel: model)
    container.persistentStoreDescriptions = [.cairn(at: directory)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }

  private let container: NSPersistentContainer
  private let list: NoteList

  private init(_ container: NSPersistentContainer) throws {
    self.container = container
    container.viewContext.automaticallyMergesChangesFromParent = true
    container.viewContext.undoManager = UndoManager()
    list = try NoteList(container.viewContext)
  }

  private var context: NSManagedObjectContext { container.viewContext }

  private func perform(_ command: Command) async throws {
    switch command {
    case .list: list.show()
    case .add(let title, let folder):
      print("add \(title)")
      let note = Note(context: context)
      note.title = title
      note.folder = try Folder.named(folder, in: context)
      try context.save()
    case .importFile(let file):
      print("import \(file)")
      let count = try await Importer.run(URL(filePath: file), into: container)
      print("\(count) notes imported")
    case .rename(let title, let new):
      print("rename \(title)")
      try edit(title) { editor in
        editor.title = new
        try editor.save()
      }
      try context.save()
    case .considerRenaming(let title, let new):
      print("consider \(title)")
      try edit(title) { $0.title = new }
    case .move(let title, let folder):
      print("move \(title)")
      try note(title).folder = Folder.named(folder, in: context)
      try context.save()
    case .delete(let title):
      print("delete \(title)")
      context.delete(try note(title))
      try context.save()
    case .undo:
      print("undo")
      context.undo()
      try context.save()
    case .redo:
      print("redo")
      context.redo()
      try context.save()
    }
  }

  private func note(_ title: String) throws -> Note {
    guard let note = list.note(title) else { throw NoSuchNote(title: title) }
    return note
  }

  private func edit(_ title: String, _ body: (Editor) throws -> Void) throws { try body(Editor(note(title))) }
}

struct NoSuchNote: LocalizedError {
  let title: String

  var errorDescription: String? { "there is no note \"\(title)\"" }
}

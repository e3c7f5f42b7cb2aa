import CoreData

/// Performs commands on the log, and on the entry whose editor is open.
@MainActor
final class Session {
  private let log: Log
  private var openEditor: EntryEditor?

  init(_ container: NSPersistentContainer) { log = Log(container.viewContext) }

  func perform(_ command: Command) throws {
    print(command.title)
    switch command {
    case .site(let name): try log.addSite(name)
    case .note(let site, let species, let count):
      try open(EntryEditor(count, of: species, at: log.site(site), of: log))
    case .edit(let species): try open(EntryEditor(log.entry(species), of: log))
    case .delete(let species):
      try requireNoEditor()
      try log.delete(species)
    case .list: try log.show()
    case .count(let count): try editor.set(count: count)
    case .measure(let part, let millimetres): try measure(part, millimetres)
    case .first(let part): try editor.putFirst(part)
    case .show: print("  \(try editor.entry.text)")
    case .save: try save()
    case .discard:
      _ = try editor
      openEditor = nil
    case .undo: if let openEditor { try openEditor.undo() } else { try log.undo() }
    case .redo: if let openEditor { try openEditor.redo() } else { try log.redo() }
    }
  }

  /// Closes the editor that is still open.
  func end() {
    if let openEditor { print("not saved: \(openEditor.entry.text)") }
    openEditor = nil
  }

  private var editor: EntryEditor {
    get throws {
      guard let openEditor else { throw Refusal(reason: "no entry is being edited") }
      return openEditor
    }
  }

  private func open(_ editor: EntryEditor) throws {
    try requireNoEditor()
    openEditor = editor
  }

  private func requireNoEditor() throws {
    guard openEditor == nil else { throw Refusal(reason: "an entry is being edited") }
  }

  private func measure(_ part: String, _ millimetres: Double) throws {
    let form = try MeasurementForm(part, of: editor.entry)
    form.millimetres = millimetres
    try showingInvalidValues { try form.save() }
  }

  /// Saves the entry into the log and closes its editor, unless its values are not valid.
  private func save() throws {
    let editor = try editor
    try showingInvalidValues {
      try editor.save()
      openEditor = nil
    }
    try log.save()
  }

  private func showingInvalidValues(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      guard let values = InvalidValues(error) else { throw error }
      for reason in values.reasons { print("  ! \(reason)") }
    }
  }
}

import OpenCoreData

/// A delegate that applies what it is told to a list, as a table view does: deletions by the places in the former list,
/// then insertions by those in the new list.
final class ListOnScreen: NSObject, NSFetchedResultsControllerDelegate {
  struct Row: Equatable {
    let object: NSManagedObject
    /// The values that are on the screen.
    var text: String
  }

  struct Section: Equatable {
    let name: String
    var rows: [Row]
  }

  private(set) var sections: [Section] = []
  /// The calls since the list was read last.
  private(set) var calls: [String] = []
  /// What was wrong with calls.
  private(set) var mistakes: [String] = []
  private var deletedSections: [Int] = []
  private var insertedSections: [(index: Int, name: String)] = []
  private var removed: [IndexPath] = []
  private var added: [(path: IndexPath, object: NSManagedObject)] = []
  private var updated: [IndexPath] = []
  private var isChanging = false

  static func text(_ object: NSManagedObject) -> String {
    object.entity.attributesByName.keys.sorted().map { "\(object[$0] ?? "nil")" }.joined(separator: " ")
  }

  /// Shows the content of a controller.
  func load(_ controller: NSFetchedResultsController<NSManagedObject>) {
    sections = Self.content(controller)
    calls = []
  }

  static func content(_ controller: NSFetchedResultsController<NSManagedObject>) -> [Section] {
    (controller.sections ?? []).map { section in
      Section(
        name: section.name,
        rows: (section.objects as? [NSManagedObject] ?? []).map { Row(object: $0, text: text($0)) })
    }
  }

  func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }

  private func check(_ condition: Bool, _ mistake: @autoclosure () -> String) {
    if !condition { mistakes.append(mistake()) }
  }

  // MARK: Calls

  func controllerWillChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    check(!isChanging, "will change twice")
    isChanging = true
    calls.append("will")
    let former = controller.fetchedObjects as? [NSManagedObject] ?? []
    check(former.elementsEqual(sections.flatMap(\.rows).map(\.object), by: ===), "changed before it will change")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>,
    didChange sectionInfo: any NSFetchedResultsSectionInfo,
    atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
  ) {
    check(isChanging && removed.isEmpty && added.isEmpty && updated.isEmpty, "a section after an object")
    switch type {
    case .insert: insertedSections.append((sectionIndex, sectionInfo.name))
    case .delete:
      check(sections[sectionIndex].name == sectionInfo.name, "section \(sectionInfo.name) is not at \(sectionIndex)")
      deletedSections.append(sectionIndex)
    default: check(false, "a section moved")
    }
    calls.append("\(type == .insert ? "+" : "-")\(sectionIndex):\(sectionInfo.name)")
  }

  func controller(
    _ controller: NSFetchedResultsController<any NSFetchRequestResult>, didChange anObject: Any,
    at indexPath: IndexPath?,
    for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
  ) {
    guard isChanging, let object = anObject as? NSManagedObject else { return check(false, "not changing") }
    if let indexPath {
      check(sections[indexPath.section].rows[indexPath.row].object === object, "another object was at \(indexPath)")
    }
    let (old, new) = (indexPath.map(Self.text) ?? "", newIndexPath.map(Self.text) ?? "")
    switch (type, indexPath, newIndexPath) {
    case (.insert, nil, let path?):
      added.append((path, object))
      calls.append("+\(new)")
    case (.delete, let path?, nil):
      removed.append(path)
      calls.append("-\(old)")
    case (.move, let path?, let newPath?):
      removed.append(path)
      added.append((newPath, object))
      calls.append("\(old)>\(new)")
    case (.update, let path?, nil):
      updated.append(path)
      calls.append("=\(old)")
    default: check(false, "\(type) with \(old) and \(new)")
    }
  }

  func controllerDidChangeContent(_ controller: NSFetchedResultsController<any NSFetchRequestResult>) {
    check(isChanging, "did change without will change")
    check(
      !(deletedSections.isEmpty && insertedSections.isEmpty && removed.isEmpty && added.isEmpty && updated.isEmpty),
      "nothing has changed")
    calls.append("did")
    for path in updated {
      sections[path.section].rows[path.row].text = Self.text(sections[path.section].rows[path.row].object)
    }
    for path in removed.sorted(by: >) { sections[path.section].rows.remove(at: path.row) }
    for index in deletedSections.sorted(by: >) {
      check(sections[index].rows.isEmpty, "section \(index) was deleted with rows")
      sections.remove(at: index)
    }
    for (index, name) in insertedSections.sorted(by: { $0.index < $1.index }) {
      sections.insert(Section(name: name, rows: []), at: index)
    }
    for (path, object) in added.sorted(by: { $0.path < $1.path }) {
      sections[path.section].rows.insert(Row(object: object, text: Self.text(object)), at: path.row)
    }
    (deletedSections, insertedSections, removed, added, updated) = ([], [], [], [], [])
    isChanging = false
  }

  private static func text(_ path: IndexPath) -> String { "\(path.section).\(path.row)" }
}
